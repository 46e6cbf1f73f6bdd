//! Every case of `tests/vectors/bucket.jsonl`, whose answers were computed by an exact rational model.
use admittance::bucket::{Word, step};
use admittance::{Budget, Decision};
use std::collections::HashMap;
use std::time::Duration;
#[test]
fn quick() {
    let mut n = 0;
    for line in include_str!("vectors/bucket.jsonl").lines() {
        let v: serde_json::Value = serde_json::from_str(line).unwrap();
        let b = Budget::new(
            v["capacity"].as_u64().unwrap(),
            v["refill_tokens"].as_u64().unwrap(),
            Duration::from_nanos(v["refill_per_ns"].as_u64().unwrap()),
        )
        .unwrap();
        let exact = v["exact"].as_bool().unwrap();
        let mut m: HashMap<String, Word> = HashMap::new();
        let mut diff = 0;
        for (c, e) in v["calls"].as_array().unwrap().iter().zip(v["expect"].as_array().unwrap()) {
            let w = m.entry(c["key"].as_str().unwrap().into()).or_default();
            let s = step::acquire(*w, c["cost"].as_u64().unwrap(), c["t_ns"].as_u64().unwrap(), &b);
            if let step::Step::Spend { next, .. } = s {
                *w = next;
            }
            let got = match s.decision() {
                Decision::Admitted(p) => serde_json::json!({"outcome":"admitted","remaining":p.remaining()}),
                Decision::Denied(d) => serde_json::json!({"outcome":"denied","retry_after_ns":d.retry_after_nanos()}),
                Decision::Never => serde_json::json!({"outcome":"never"}),
            };
            if &got != e {
                diff += 1;
                if exact {
                    panic!("{} {got} {e} {b:?}", v["name"]);
                } else {
                    println!("{} {got} {e}", v["name"]);
                }
            }
        }
        n += 1;
        if !exact {
            println!("{} {b:?} diffs {diff}", v["name"]);
        }
    }
    println!("{n}");
}
