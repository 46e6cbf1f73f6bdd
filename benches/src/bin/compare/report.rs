//! What is printed: one JSON object, or a table.

use std::fmt;
use std::time::Duration;

use admittance_benches::machine::Machine;
use admittance_benches::stats::Quartiles;
use serde_json::{Map, Value, json};

use crate::duel::{Effort, Outcome, Side};
use crate::rows::{Row, Target};

/// The results so far.
#[derive(Debug)]
pub(crate) struct Report {
    machine: Machine,
    effort: Effort,
    took: Duration,
    lines: Vec<Line>,
}

/// A ratio that has been measured.
#[derive(Debug)]
struct Line {
    row: &'static Row,
    outcome: Outcome,
}

impl Report {
    pub(crate) fn new(machine: Machine, effort: Effort) -> Self {
        Self { machine, effort, took: Duration::ZERO, lines: Vec::new() }
    }

    pub(crate) fn add(&mut self, row: &'static Row, outcome: Outcome) {
        self.lines.push(Line { row, outcome });
    }

    pub(crate) fn finish(&mut self, took: Duration) {
        self.took = took;
    }

    /// The ratios under their own keys, and beside them, by the same keys: each side's nanoseconds for a call, the
    /// spread, the threads, the targets. Then what it was measured on.
    pub(crate) fn json(&self) -> Value {
        let mut object = self.by_key(|line| Some(rounded(line.outcome.ratio.median)));
        object.insert("ns".into(), self.by_key(|line| Some(line.by_side(|side| rounded(side.ns.median)))).into());
        object.insert("spread".into(), self.by_key(|line| Some(line.spread())).into());
        object.insert("threads".into(), self.by_key(|line| Some(line.by_side(|side| side.threads.into()))).into());
        object.insert("targets".into(), self.by_key(Line::target).into());
        object.insert("cpu".into(), self.machine.cpu.as_str().into());
        object.insert("cpus".into(), self.machine.cpus.into());
        object.insert("rustc".into(), self.machine.rustc.into());
        object.insert("commit".into(), self.machine.commit.as_str().into());
        object.insert("dirty".into(), self.machine.dirty.into());
        object.insert("rounds".into(), self.effort.rounds.into());
        object.insert("calls".into(), self.effort.calls.into());
        object.insert("seconds".into(), rounded(self.took.as_secs_f64()));
        object.into()
    }

    fn by_key(&self, of: impl Fn(&Line) -> Option<Value>) -> Map<String, Value> {
        self.lines.iter().filter_map(|line| Some((line.row.key.to_owned(), of(line)?))).collect()
    }
}

impl Line {
    fn by_side(&self, of: impl Fn(&Side) -> Value) -> Value {
        self.outcome.sides.iter().zip(self.names()).map(|(side, name)| (name, of(side))).collect::<Map<_, _>>().into()
    }

    /// What tells the two sides apart: the limiter, its threads, or nothing but the turn.
    fn names(&self) -> [String; 2] {
        let [a, b] = &self.outcome.sides;
        if a.name != b.name {
            [a.name.to_owned(), b.name.to_owned()]
        } else if a.threads != b.threads {
            [a, b].map(|side| format!("{}, threads: {}", side.name, side.threads))
        } else {
            [a.name.to_owned(), format!("{}, again", b.name)]
        }
    }

    /// Quartiles of the ratio over rounds and of each side, and how unevenly its threads fared.
    fn spread(&self) -> Value {
        let ratio = self.outcome.ratio;
        json!({
            "ratio": [rounded(ratio.q1), rounded(ratio.q3)],
            "ns": self.by_side(|side| json!([rounded(side.ns.q1), rounded(side.ns.q3)])),
            "rounds": self.outcome.rounds,
            "rounds_thrown_away": self.outcome.thrown_away,
            "slowest_thread_vs_fastest": self.by_side(|side| rounded(side.unevenness)),
        })
    }

    fn target(&self) -> Option<Value> {
        self.row.target.map(|target| match target {
            Target::AtMost(bound) => json!({ "at_most": bound, "met": self.met() }),
            Target::AtLeast(bound) => json!({ "at_least": bound, "met": self.met() }),
        })
    }

    fn met(&self) -> Option<bool> {
        let ratio = self.outcome.ratio.median;
        self.row.target.map(|target| match target {
            Target::AtMost(bound) => ratio <= bound,
            Target::AtLeast(bound) => ratio >= bound,
        })
    }
}

/// A side's nanoseconds, and where it is more than one thread, how unevenly they fared: a thread that is starved makes
/// the others fast.
fn in_words((side, name): (&Side, String)) -> String {
    let Quartiles { q1, median, q3 } = side.ns;
    let unevenness = if side.threads > 1 { format!(", slowest/fastest {:.2}", side.unevenness) } else { String::new() };
    format!("{name} {median:.1} ({q1:.1} – {q3:.1}{unevenness})")
}

/// To four decimals: more would be noise.
fn rounded(number: f64) -> Value {
    ((number * 1e4).round() / 1e4).into()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Machine { cpu, cpus, rustc, commit, dirty } = &self.machine;
        writeln!(
            f,
            "{cpu}, {cpus} threads at once; {rustc}; commit {commit}{}",
            if *dirty { ", changed" } else { "" }
        )?;
        let Effort { rounds, calls } = self.effort;
        writeln!(f, "{rounds} rounds of {calls} calls a side; {:.0} s\n", self.took.as_secs_f64())?;
        writeln!(f, "{:<34} {:>7}  {:<15} {:<9} ns a call (quartiles)", "ratio", "median", "quartiles", "target")?;
        for line in &self.lines {
            let ratio = line.outcome.ratio;
            let quartiles = format!("{:.3} – {:.3}", ratio.q1, ratio.q3);
            write!(f, "{:<34} {:>7.3}  {quartiles:<15} {:<9} ", line.row.key, ratio.median, line.verdict())?;
            let sides: Vec<_> = line.outcome.sides.iter().zip(line.names()).map(in_words).collect();
            writeln!(f, "{}", sides.join(" / "))?;
        }
        Ok(())
    }
}

impl Line {
    fn verdict(&self) -> String {
        let sign = match self.row.target {
            Some(Target::AtMost(bound)) => format!("≤ {bound:.2}"),
            Some(Target::AtLeast(bound)) => format!("≥ {bound:.2}"),
            None => return String::new(),
        };
        if self.met() == Some(false) { format!("{sign} ✗") } else { format!("{sign} ✓") }
    }
}
