#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| admittance_fuzz::forwarded::run(data));

#[cfg(not(fuzzing))]
fn main() -> std::process::ExitCode {
    admittance_fuzz::replay(admittance_fuzz::forwarded::run)
}
