//! The suggested budget as a policy: all of its parts said, each with its reason.

use admittance::policy::IdentityKind;
use admittance::replay::Fitted;

use super::tell::{callers, promise, reason, unit};
use crate::text::{grouped, instant, printable};

/// What `admittance policy check` takes.
pub(super) fn text(fitted: &Fitted, logs: &[String]) -> String {
    let point = fitted.suggestion();
    let (_, many) = callers(fitted);
    let number = |count: u64| grouped(count.into());
    // A comment ends with its line: no name of a file may end it earlier.
    let logs: Vec<String> = logs.iter().map(|log| printable(log.as_bytes())).collect();
    let time = fitted
        .span
        .map_or_else(String::new, |(first, last)| format!("\n# from {} to {}", instant(first), instant(last)));
    let (unit, of_unit) = match unit(fitted) {
        "bytes" => ("byte", "A token is a byte of an answer."),
        "requests" => ("request", "A token is a request."),
        _ => ("token", "What a token is, the trace does not say: call it by your own name."),
    };
    let fields = fitted.whose();
    let (identity, of_identity) = match &*fields {
        ["address"] => ("\"address\"".to_owned(), "Whose budget it is.".to_owned()),
        fields => (
            kinds(fields.len()),
            format!(
                "Whose budget it is: of the log, {}. What that is, the log does not say: account, credential, address, tenant or session.",
                printable(fields.join(", ").as_bytes())
            ),
        ),
    };
    format!(
        r#"# Suggested by `admittance fit {logs}`:
# {requests} requests of {all} {many}{time}.
# {promise}.
# This one denies {denied} of them, and {lost} requests; {reason}.
# Read it as a description of that log, not of the next one: try it on others, and in shadow, first.

version = 1

[[policy]]
name = "suggested"

# {of_unit}
unit = "{unit}"

# {of_identity}
identity = {identity}

# Where it holds: on all routes, and each process counts for itself. For several processes together, a shared store.
scope = {{ store = "process" }}

# At once, and how fast it comes back.
rule = {{ capacity = {capacity}, refill = "{refill}" }}

# With "shadow", nothing is denied, and what would have been is counted.
on_exhausted = "deny"

# How many at once that are not at rest: twice as many {many} as the log has in all. One more is denied.
max_keys = {keys}
overflow = "deny"
"#,
        logs = logs.join(" "),
        requests = number(fitted.requests),
        all = number(fitted.callers),
        promise = promise(fitted),
        denied = number(fitted.check.callers_denied),
        lost = number(fitted.check.denied + fitted.check.never),
        reason = reason(fitted),
        capacity = point.budget.capacity(),
        refill = point.refill,
        keys = keys(fitted.callers),
    )
}

/// So many kinds of identity, the likeliest first, as TOML.
fn kinds(fields: usize) -> String {
    let likely = [IdentityKind::Account, IdentityKind::Tenant, IdentityKind::Session, IdentityKind::Credential];
    let names: Vec<String> = likely.iter().take(fields).map(|kind| format!("\"{}\"", kind.name())).collect();
    if names.len() == 1 { names.concat() } else { format!("[{}]", names.join(", ")) }
}

/// Twice as many and a thousand at least, rounded up to one, two or five with noughts.
fn keys(callers: u64) -> u64 {
    let most = callers.saturating_mul(2).max(1000);
    let unit = 10_u64.pow(most.ilog10());
    [1, 2, 5].map(|step| step * unit).into_iter().find(|keys| *keys >= most).unwrap_or_else(|| unit.saturating_mul(10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_twice_as_many_rounded_up() {
        for (callers, expected) in
            [(0, 1000), (500, 1000), (501, 2000), (1000, 2000), (1001, 5000), (2501, 10_000), (10_000_000, 20_000_000)]
        {
            assert_eq!(keys(callers), expected, "{callers}");
        }
    }
}
