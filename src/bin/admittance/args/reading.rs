//! Which logs, and how their lines are read: the same flags wherever logs are read.

use std::ffi::OsString;

use admittance::policy::{IdentityKind, Policy, Unit as PolicyUnit};
use admittance::replay::{self, Fields, Format, Identity, Input, LogFormat, Unit};
use clap::ValueEnum;
use clap::error::ErrorKind;

use super::{number, usage_of};

/// Under what the help has these flags, and whatever else says how lines are read.
pub(super) const HEADING: &str = "Reading";

/// Logs, and how they are read.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct Reading {
    /// Logs, read one after the other as one; gzip and zstd are seen. `-` is standard input.
    #[arg(required = true, value_name = "LOG", help_heading = "Arguments")]
    logs: Vec<OsString>,

    /// Take the lines of several logs in order of time, each log's own as they come.
    #[arg(long)]
    merge: bool,

    /// Whose lines share one budget: a field of the log, or several together, as in address,user. `address` if nothing is said.
    /// Fields: combined has address, user, path, referer, agent; nginx its variables without the $; json, caddy any path; alb
    /// those of its documentation. For a policy: which field is which kind, as in account=user, once for each.
    #[arg(long, value_name = "FIELD[,FIELD]", value_parser = Whose::read)]
    identity: Vec<Whose>,

    /// What a line of an access log costs. A trace says itself, by its `cost`.
    #[arg(long, value_enum, default_value_t)]
    unit: UnitArg,

    /// How the logs are written.
    #[arg(long, value_enum, default_value_t)]
    format: FormatArg,

    /// The `log_format` of the nginx that wrote the logs, as it stands between the quotes of its configuration.
    #[arg(long, value_name = "FORMAT", conflicts_with = "field", value_parser = log_format, allow_hyphen_values = true)]
    log_format: Option<LogFormat>,

    /// Of JSON lines, which field is the time, the key (or the address), the cost and the route, once for each: time=ts:ms,
    /// key=user.id. Times are RFC 3339 or seconds; :s, :ms, :us and :ns say another unit.
    #[arg(long, value_name = "ROLE=PATH")]
    field: Vec<String>,

    /// Stop at the first line that cannot be read.
    #[arg(long)]
    strict: bool,

    /// Threads to work with; all cores by default. The output is the same for any number.
    #[arg(long, value_name = "N", value_parser = number::whole::<u16>(1..=65_535, "4"), allow_hyphen_values = true)]
    pub(crate) threads: Option<u16>,
}

/// Examples of them, for the help of whatever reads logs.
pub(crate) const EXAMPLES: &str = "\
Reading other logs:
  nginx with a log_format of its own, a budget for each forwarded address:
    --log-format '$http_x_forwarded_for [$time_local] \"$request\" $status $request_time' \\
      --identity http_x_forwarded_for
  JSON lines, with times in milliseconds since 1970:
    --field time=ts:ms --field key=user.id --field cost=rows
  A budget for each pair of address and user:
    --identity address,user
  A policy for accounts, which the log has as its user:
    --policy limits.toml --identity account=user
  The logs of two servers, in order of time:
    --merge web1.log.zst web2.log.gz";

/// What `--identity` says: a kind of identity that a policy may name, and the fields that are it.
#[derive(Clone, Debug)]
struct Whose {
    kind: Option<IdentityKind>,
    identity: Identity,
}

impl Whose {
    fn read(text: &str) -> Result<Self, String> {
        let known = |(kind, fields)| {
            let kind = IdentityKind::ALL.into_iter().find(|known| known.name() == kind)?;
            Some((Some(kind), fields))
        };
        let (kind, fields) = text.split_once('=').and_then(known).unwrap_or((None, text));
        let identity = fields.parse::<Identity>().map_err(|error| error.to_string())?;
        let identity = if kind == Some(IdentityKind::Address) { identity.as_addresses() } else { identity };
        Ok(Self { kind, identity })
    }
}

fn log_format(text: &str) -> Result<LogFormat, String> {
    text.parse().map_err(|error: replay::SpecError| error.to_string())
}

/// What a line of an access log costs.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum UnitArg {
    /// Each costs 1.
    #[default]
    Request,
    /// Each costs its response's size; `-` is 0.
    Byte,
}

/// How the logs are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    /// Told from the first line that can be read, or from --log-format or --field.
    #[default]
    Auto,
    /// Apache's and nginx's common and combined formats.
    #[value(alias = "common")]
    Combined,
    /// What --log-format says.
    Nginx,
    /// JSON objects of your own, by --field.
    Json,
    /// A trace: a JSON object a line, with `t_ns`, `key` and `cost`.
    Jsonl,
    /// What an Application Load Balancer of AWS writes.
    Alb,
    /// What Caddy writes as JSON.
    Caddy,
}

impl Reading {
    pub(crate) fn inputs(&self) -> Vec<Input> {
        self.logs.iter().map(|log| Input::from_arg(log)).collect()
    }

    /// How lines are read. Ends the program where the flags do not go together.
    pub(crate) fn reading(&self, command: &str) -> replay::Reading {
        let unit = match self.unit {
            UnitArg::Request => Unit::Request,
            UnitArg::Byte => Unit::Byte,
        };
        let said = self.identity.iter().map(|whose| whose.identity.clone()).reduce(Identity::and);
        let reading = with(self.plain(command).unit(unit), said);
        checked(command, reading)
    }

    /// How lines are read for a policy, as far as a log can be asked about it. Ends the program where the flags do not go
    /// together.
    ///
    /// # Errors
    ///
    /// What of the policy a log cannot tell.
    pub(crate) fn reading_for(&self, policy: &Policy, command: &str) -> Result<replay::Reading, String> {
        let format = self.format(command);
        let (has_key, has_cost) = match &format {
            Some(Format::Jsonl) => (true, true),
            Some(Format::Json(fields)) => (fields.has_key(), fields.has_cost()),
            _ => (false, false),
        };
        if format == Some(Format::Jsonl) && !policy.scope().prefixes().is_empty() {
            return Err("scope: a trace has no routes; take them out, or say --field time=t_ns:ns --field key=key \
                        --field route=PATH for a field that is the request's path"
                .into());
        }
        let unit = match policy.unit() {
            PolicyUnit::Byte if !has_cost => Unit::Byte,
            PolicyUnit::Named(name) if !has_cost => {
                return Err(format!(
                    "unit: an access log tells requests and bytes, and no {name}; JSON lines do, with --field cost=PATH"
                ));
            }
            _ => Unit::Request,
        };
        // What a log says to be its key is whatever the policy is for.
        let said = if has_key && self.identity.is_empty() { None } else { self.identity_of(policy)? };
        let reading = with(self.plain(command).unit(unit).scope(policy.scope()), said);
        Ok(checked(command, reading))
    }

    /// Ends the program where a field is said to be what no policy names.
    pub(crate) fn names_of<'p>(&self, policies: &(impl Iterator<Item = &'p Policy> + Clone), command: &str) {
        let wrong = |what: String| -> ! { usage_of(command, ErrorKind::ValueValidation, what) };
        let one_kind = policies.clone().all(|policy| policy.identity().len() == 1);
        for Whose { kind, identity } in &self.identity {
            match kind {
                None if one_kind && self.identity.len() == 1 => {}
                None => wrong(format!("which kind of identity is {identity}? Say --identity KIND={identity}")),
                Some(kind) if policies.clone().any(|policy| policy.identity().contains(kind)) => {}
                Some(kind) => wrong(format!("--identity {kind}={identity}: no policy names the {kind}")),
            }
        }
    }

    /// The fields that are who a policy names; `None` where that is the address that every log has.
    fn identity_of(&self, policy: &Policy) -> Result<Option<Identity>, String> {
        let kinds = policy.identity();
        if let ([_], [Whose { kind: None, identity }]) = (kinds, self.identity.as_slice()) {
            return Ok(Some(identity.clone()));
        }
        let said = |kind| self.identity.iter().any(|whose| whose.kind == Some(kind));
        if kinds == [IdentityKind::Address] && !said(IdentityKind::Address) {
            return Ok(None);
        }
        let field = |kind: &IdentityKind| {
            let mut said = self.identity.iter().filter(|whose| whose.kind == Some(*kind));
            match (said.next(), said.next(), kind) {
                (Some(whose), None, _) => Ok(whose.identity.clone()),
                (Some(_), Some(_), _) => Err(format!("identity: --identity {kind}=FIELD is said twice; say it once")),
                (None, _, IdentityKind::Address) => Ok(Identity::address()),
                (None, ..) => Err(format!(
                    "identity: which field of the log is the {kind}? Say --identity {kind}=FIELD, as in {kind}=user"
                )),
            }
        };
        let fields = kinds.iter().map(field).collect::<Result<Vec<_>, _>>()?;
        Ok(fields.into_iter().reduce(Identity::and))
    }

    /// All but who asked, for how much, and where.
    fn plain(&self, command: &str) -> replay::Reading {
        let reading = replay::Reading::new().strict(self.strict).merge(self.merge);
        match self.format(command) {
            Some(format) => reading.format(format),
            None => reading,
        }
    }

    /// The format, where it is said.
    fn format(&self, command: &str) -> Option<Format> {
        let wrong = |what: &str| -> ! { usage_of(command, ErrorKind::ArgumentConflict, what) };
        let missing = |what: &str| -> ! { usage_of(command, ErrorKind::MissingRequiredArgument, what) };
        let is = |format| self.format == FormatArg::Auto || self.format == format;
        if let Some(format) = &self.log_format {
            if !is(FormatArg::Nginx) {
                wrong("--log-format is for --format nginx; leave one of the two out");
            }
            return Some(Format::Nginx(format.clone()));
        }
        if !self.field.is_empty() || self.format == FormatArg::Json {
            if !is(FormatArg::Json) {
                wrong("--field is for --format json; leave one of the two out");
            }
            return Some(Format::Json(
                Fields::new(&self.field)
                    .unwrap_or_else(|error| usage_of(command, ErrorKind::ValueValidation, format!("--field: {error}"))),
            ));
        }
        Some(match self.format {
            FormatArg::Auto | FormatArg::Json => return None,
            FormatArg::Combined => Format::Combined,
            FormatArg::Nginx => missing(
                "which log_format? Say --log-format with what stands between its quotes in nginx's configuration, \
                 as in --log-format '$remote_addr [$time_local] \"$request\" $status'",
            ),
            FormatArg::Jsonl => Format::Jsonl,
            FormatArg::Alb => Format::Alb,
            FormatArg::Caddy => Format::Caddy,
        })
    }
}

fn with(reading: replay::Reading, said: Option<Identity>) -> replay::Reading {
    match said {
        Some(identity) => reading.identity(identity),
        None => reading,
    }
}

/// Ends the program where the format that is said does not tell what is asked.
fn checked(command: &str, reading: replay::Reading) -> replay::Reading {
    match reading.check() {
        Ok(()) => reading,
        Err(error) => usage_of(command, ErrorKind::ValueValidation, error),
    }
}
