//! Any text as a file of policies: an error that shows its place, or policies that are read back as they were written.

use admittance::policy::Policies;

/// The bytes as text, as far as they are.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match Policies::from_toml(&text) {
        Ok(policies) => {
            let written = policies.to_toml();
            match Policies::from_toml(&written) {
                Ok(again) => assert_eq!(again, policies, "{written}"),
                Err(error) => panic!("{error}\n{written}"),
            }
            assert!(policies.iter().all(|policy| !policy.to_string().is_empty()));
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            let lines = text.matches('\n').count() + 1;
            assert!(error.line().is_none_or(|line| (1..=lines).contains(&line)), "{error}");
            assert!(error.column().is_none_or(|column| column >= 1), "{error}");
        }
    }
}
