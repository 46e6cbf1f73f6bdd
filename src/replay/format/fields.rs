//! Which fields of JSON lines of one's own are what: `time=ts:ms`, `key=user.id`.

use crate::replay::spec::SpecError;

/// How a number is a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// It is none: the time is a string, as RFC 3339 writes it.
    Rfc3339,
    /// Seconds since 1970.
    Seconds,
    /// Milliseconds since 1970.
    Millis,
    /// Microseconds since 1970.
    Micros,
    /// Nanoseconds since 1970.
    Nanos,
}

/// The names of members, from the outermost in; of an array, the place counted from 0.
pub(super) type Path = Vec<String>;

/// Which fields of a JSON line are what.
///
/// Each is said as `ROLE=PATH`. A path is the names of members with dots between them, `request.headers.X-Id.0`, from the
/// outermost in; a number is a place in an array, and `\.` is a dot in a name.
///
/// | role | is |
/// |---|---|
/// | `time` | needed. A string is a date of RFC 3339, a number is seconds since 1970; `time=ts:ms` says the unit (`s`, `ms`, `us`, `ns`, `rfc3339`) of a number or of a string with one. The unit is never guessed from how large a number is |
/// | `key` | who asked; a string or a number, as it is |
/// | `address` | who asked, as a client's address: of IPv6 the /64 |
/// | `cost` | tokens, a whole number; without it each line costs 1 |
/// | `route` | a request's target, `/a?b`: what a policy's routes are told by |
///
/// ```
/// use admittance::replay::{Fields, Format, Replay};
/// use admittance::{Rule, Window};
///
/// let fields = Fields::new(["time=ts:ms", "key=user.id", "cost=rows"])?;
/// let log = br#"{"ts": 1431857103250.5, "user": {"id": 7}, "rows": 20}"#;
/// let summary = Replay::new(Rule::FixedWindow(Window::per_minute(100))).format(Format::Json(fields)).run_bytes(log, |decided| {
///     assert_eq!((decided.time, decided.key, decided.cost), (1_431_857_103_250_500_000, &b"7"[..], 20));
/// })?;
/// assert_eq!(summary.admitted, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    pub(super) time: Path,
    /// `None` goes by what the value is.
    pub(super) unit: Option<TimeUnit>,
    pub(super) key: Option<Path>,
    pub(super) address: Option<Path>,
    pub(super) cost: Option<Path>,
    pub(super) route: Option<Path>,
}

impl Fields {
    /// Reads one `ROLE=PATH` each.
    ///
    /// # Errors
    ///
    /// When one cannot be read, is said twice, or none is the time.
    pub fn new<S: AsRef<str>>(specs: impl IntoIterator<Item = S>) -> Result<Self, SpecError> {
        let [mut time, mut key, mut address, mut cost, mut route] = [const { None }; 5];
        let mut unit = None;
        for spec in specs {
            let spec = spec.as_ref();
            let Some((role, path)) = spec.split_once('=') else {
                let what = "there is no '='; write ROLE=PATH, as in time=ts:ms or key=user.id";
                return Err(SpecError::at(spec, spec.len()..spec.len(), what));
            };
            let start = role.len() + 1;
            let slot = match role {
                "time" => &mut time,
                "key" => &mut key,
                "address" => &mut address,
                "cost" => &mut cost,
                "route" => &mut route,
                _ => {
                    let what = format!("'{role}' is no role; roles are time, key, address, cost and route");
                    return Err(SpecError::at(spec, 0..role.len(), what));
                }
            };
            if slot.is_some() {
                return Err(SpecError::at(spec, 0..role.len(), format!("{role} is said twice; say it once")));
            }
            let path = match (role, colon(path)) {
                ("time", Some(colon)) => {
                    unit = Some(unit_of(&path[colon + 1..]).ok_or_else(|| {
                        let what = "is no unit of time; say s, ms, us, ns or rfc3339 (or \\: for a colon in a name)";
                        let what = format!("'{}' {what}", &path[colon + 1..]);
                        SpecError::at(spec, start + colon + 1..spec.len(), what)
                    })?);
                    &path[..colon]
                }
                _ => path,
            };
            *slot = Some(self::path(path).map_err(|place| {
                let what = "a member has no name; write names with dots between them, as in request.client_ip";
                SpecError::at(spec, start + place..start + place + 1, what)
            })?);
        }
        let time = time.ok_or_else(|| {
            SpecError::missing("which field is the time? Say time=PATH, as in time=ts, or time=ts:ms for milliseconds")
        })?;
        Ok(Self { time, unit, key, address, cost, route })
    }
}

impl Fields {
    /// Whether a field is said to be the key.
    #[must_use]
    pub const fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// Whether a field is said to be the cost.
    #[must_use]
    pub const fn has_cost(&self) -> bool {
        self.cost.is_some()
    }
}

fn unit_of(text: &str) -> Option<TimeUnit> {
    Some(match text {
        "rfc3339" => TimeUnit::Rfc3339,
        "s" => TimeUnit::Seconds,
        "ms" => TimeUnit::Millis,
        "us" => TimeUnit::Micros,
        "ns" => TimeUnit::Nanos,
        _ => return None,
    })
}

/// The last colon that is not escaped.
fn colon(path: &str) -> Option<usize> {
    path.rmatch_indices(':').map(|(at, _)| at).find(|&at| !path[..at].ends_with('\\'))
}

/// The names of a path, or where one is missing.
pub(super) fn path(text: &str) -> Result<Path, usize> {
    let mut names = vec![String::new()];
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let last = names.last_mut().expect("it begins with one");
        match letter {
            '\\' => match letters.next_if(|&(_, next)| matches!(next, '.' | ':' | '\\')) {
                Some((_, next)) => last.push(next),
                None => last.push('\\'),
            },
            '.' if last.is_empty() => return Err(at),
            '.' => names.push(String::new()),
            _ => last.push(letter),
        }
    }
    if names.last().is_some_and(String::is_empty) { Err(text.len()) } else { Ok(names) }
}
