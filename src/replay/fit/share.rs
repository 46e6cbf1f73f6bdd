//! A share, as it is written: a percentage, kept as a fraction so that nothing of it is lost.

use std::fmt;
use std::str::FromStr;

/// Of what a share is spared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Of {
    /// So many of all callers are never denied.
    #[default]
    Callers,
    /// The callers that are never denied make so many of all requests. Of those of the others, some are admitted too: what
    /// is admitted in all is more than this share.
    Requests,
}

/// A share of more than nothing and at most all: `99.9%`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    parts: u64,
    of: u64,
}

/// Digits of a percentage behind the point, at most.
const PLACES: usize = 12;

impl Share {
    /// All.
    pub const ALL: Self = Self { parts: 100, of: 100 };

    /// 99.9 %.
    pub(super) const MOST: Self = Self { parts: 999, of: 1000 };

    /// The smallest whole number that is at least this share of `all`.
    #[must_use]
    pub fn of(self, all: u64) -> u64 {
        let parts = (u128::from(all) * u128::from(self.parts)).div_ceil(self.of.into());
        // The share is at most 1, and so it is at most `all`.
        u64::try_from(parts).unwrap_or(all)
    }
}

/// What is wrong with a share, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareError(&'static str);

impl fmt::Display for ShareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; write a percentage above 0% and up to 100%, as in 99.9%", self.0)
    }
}

impl std::error::Error for ShareError {}

impl FromStr for Share {
    type Err = ShareError;

    fn from_str(text: &str) -> Result<Self, ShareError> {
        let number = text.strip_suffix('%').ok_or(ShareError("there is no '%'"))?;
        let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(part) {
            return Err(ShareError("that is not a number"));
        }
        let part = part.trim_end_matches('0');
        if part.len() > PLACES {
            return Err(ShareError("there are more than 12 digits behind the point"));
        }
        let scale = 10_u64.pow(part.len() as u32);
        let all = 100 * scale;
        let parts = whole.parse::<u64>().ok().and_then(|whole| whole.checked_mul(scale)).unwrap_or(u64::MAX);
        let parts = parts.saturating_add(part.parse().unwrap_or(0));
        match parts {
            0 => Err(ShareError("that is nobody")),
            parts if parts > all => Err(ShareError("that is more than all")),
            parts => Ok(Self { parts, of: all }),
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = self.of / 100;
        let (whole, part) = (self.parts / scale, self.parts % scale);
        if part == 0 {
            return write!(f, "{whole}%");
        }
        let places = scale.ilog10() as usize;
        write!(f, "{whole}.{part:0places$}%")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_rounded_up_to_whole_callers_and_never_by_a_float() {
        for (share, all, expected) in [
            ("100%", 999, 999),
            ("99.9%", 1000, 999),
            ("99.9%", 999, 999),
            ("99.9%", 1001, 1000),
            ("99.9%", 2000, 1998),
            ("0.1%", 1000, 1),
            ("0.1%", 1001, 2),
            ("0.1%", 1, 1),
            ("50%", 5, 3),
            ("29%", 100, 29),
            ("57%", 100, 57),
            ("0.000000000001%", u64::MAX, 184_468),
            ("100.0%", u64::MAX, u64::MAX),
            ("99.999999999999%", u64::MAX, 18_446_744_073_709_367_148),
        ] {
            assert_eq!(share.parse::<Share>().unwrap().of(all), expected, "{share} of {all}");
        }
    }

    #[test]
    fn a_share_is_told_as_it_was_written() {
        for share in ["100%", "99.9%", "0.1%", "0.05%", "50%", "12.345%", "99.000000000001%"] {
            assert_eq!(share.parse::<Share>().unwrap().to_string(), share);
        }
        assert_eq!(("99.90%".parse::<Share>(), Share::MOST.to_string()), (Ok(Share::MOST), "99.9%".into()));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (share, what) in [
            ("99.9", "no '%'"),
            ("", "no '%'"),
            ("%", "not a number"),
            ("-1%", "not a number"),
            ("1e1%", "not a number"),
            ("9.%", "not a number"),
            (".9%", "not a number"),
            ("0%", "nobody"),
            ("0.00%", "nobody"),
            ("100.1%", "more than all"),
            ("18446744073709551616%", "more than all"),
            ("1.0000000000001%", "more than 12 digits"),
        ] {
            let error = share.parse::<Share>().unwrap_err().to_string();
            assert!(error.contains(what) && error.contains("as in 99.9%"), "{share}: {error}");
        }
    }
}
