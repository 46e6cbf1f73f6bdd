//! A place in a text, shown.

use core::fmt;
use core::ops::Range;
use std::string::{String, ToString};

/// A span of a text: where it is, the line, and what to underline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caret {
    /// Both from 1; the column in characters.
    pub(crate) line: usize,
    pub(crate) column: usize,
    text: String,
    width: usize,
}

impl Caret {
    /// Of a span of bytes. One that ends on a later line is underlined to the end of its first.
    pub(crate) fn of(text: &str, span: Range<usize>) -> Self {
        let boundary = |mut at: usize| {
            at = at.min(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let (start, end) = (boundary(span.start), boundary(span.end));
        let begin = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line = text[begin..].lines().next().unwrap_or_default();
        let stop = (begin + line.len()).max(start);
        Self {
            line: text[..start].matches('\n').count() + 1,
            column: text[begin..start].chars().count() + 1,
            // A tab is as wide as a terminal likes; a space is one column.
            text: line.replace('\t', " "),
            width: text[start..end.clamp(start, stop)].chars().count().max(1),
        }
    }
}

impl fmt::Display for Caret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let margin = self.line.to_string().len();
        writeln!(f, "{:margin$} |", "")?;
        writeln!(f, "{} | {}", self.line, self.text)?;
        write!(f, "{:margin$} | {:column$}{}", "", "", "^".repeat(self.width), column = self.column - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, part: &str) -> String {
        let start = text.find(part).unwrap();
        Caret::of(text, start..start + part.len()).to_string()
    }

    #[test]
    fn the_caret_is_under_the_value() {
        assert_eq!(shown("a = 1\nbcd = xy\n", "xy"), "  |\n2 | bcd = xy\n  |       ^^");
        assert_eq!(shown("é\tü = \"ß\" # ", "\"ß\""), "  |\n1 | é ü = \"ß\" # \n  |       ^^^");
        assert_eq!(shown("[[p]]\na = 1\n", "[[p]]\na = 1"), "  |\n1 | [[p]]\n  | ^^^^^");
    }

    #[test]
    fn any_span_of_any_text_is_shown() {
        for text in ["", "\n", "é", "a\r\nb", "x\n\n"] {
            for start in 0..5 {
                for end in 0..6 {
                    let caret = Caret::of(text, start..end);
                    assert!(caret.line >= 1 && caret.column >= 1 && caret.to_string().contains('^'));
                }
            }
        }
    }
}
