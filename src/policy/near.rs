//! Words that were probably meant to be others.

use std::vec::Vec;

/// The word that `written` was probably meant to be: but for upper case, a plural and one slip of the hand, it is that.
pub(super) fn meant<'w>(written: &str, words: &[&'w str]) -> Option<&'w str> {
    let written = written.to_lowercase();
    let singular = written.strip_suffix('s').unwrap_or(&written);
    words.iter().copied().find(|word| is_near(&written, word) || is_near(singular, word))
}

/// Whether one letter too many, too few or other, or two that changed places, are all that lies between two words.
fn is_near(one: &str, other: &str) -> bool {
    let (one, other): (Vec<_>, Vec<_>) = (one.chars().collect(), other.chars().collect());
    let head = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let (one, other) = (&one[head..], &other[head..]);
    let tail = one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count();
    match (&one[..one.len() - tail], &other[..other.len() - tail]) {
        ([] | [_], [] | [_]) => true,
        ([first, second], [third, fourth]) => first == fourth && second == third,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [&str; 2] = ["request", "byte"];

    #[test]
    fn a_slip_of_the_hand_is_near() {
        for written in [
            "request", "Request", "REQUESTS", "requests", "reqest", "rrequest", "requeest", "reqoest", "erquest",
            "reqeust", "requets", "reqests", "equest", "reques", "réquest",
        ] {
            assert_eq!(meant(written, &WORDS), Some("request"), "{written}");
        }
        for written in ["bytes", "Byte", "bite", "bites", "yte", "byt", "byet", "ybte", "bytess"] {
            assert_eq!(meant(written, &WORDS), Some("byte"), "{written}");
        }
    }

    #[test]
    fn another_word_is_not() {
        for written in [
            "",
            "s",
            "row",
            "bit",
            "bits",
            "token",
            "quest",
            "conquest",
            "requester",
            "eruqest",
            "kilobyte",
            "query",
            "teby",
            "model-token",
            "étyb",
        ] {
            assert_eq!(meant(written, &WORDS), None, "{written}");
        }
    }
}
