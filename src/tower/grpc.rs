//! `google.rpc.Status` with a `google.rpc.RetryInfo`, as bytes: three nested messages of two fields each.
//!
//! | message | field | number | written as |
//! |---|---|---|---|
//! | `Status` | `code`, `message`, `details` | 1, 2, 3 | varint, text, message |
//! | `Any` | `type_url`, `value` | 1, 2 | text, bytes |
//! | `RetryInfo` | `retry_delay` | 1 | message |
//! | `Duration` | `seconds`, `nanos` | 1, 2 | varints |

use core::time::Duration;
use std::string::String;
use std::vec::Vec;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

const TYPE: &str = "type.googleapis.com/google.rpc.RetryInfo";

/// The status as `grpc-status-details-bin` has it: base64 without padding.
pub(super) fn retry_info(code: u8, message: &str, retry_after: Duration) -> String {
    let mut delay = Vec::new();
    varint(1, retry_after.as_secs(), &mut delay);
    varint(2, retry_after.subsec_nanos().into(), &mut delay);
    let mut info = Vec::new();
    bytes(1, &delay, &mut info);
    let mut any = Vec::new();
    bytes(1, TYPE.as_bytes(), &mut any);
    bytes(2, &info, &mut any);
    let mut status = Vec::new();
    varint(1, code.into(), &mut status);
    bytes(2, message.as_bytes(), &mut status);
    bytes(3, &any, &mut status);
    STANDARD_NO_PAD.encode(status)
}

fn varint(field: u8, value: u64, to: &mut Vec<u8>) {
    // What is 0 is not written: that is what it is read as.
    if value > 0 {
        to.push(field << 3);
        number(value, to);
    }
}

fn bytes(field: u8, value: &[u8], to: &mut Vec<u8>) {
    to.push(field << 3 | 2);
    number(value.len() as u64, to);
    to.extend_from_slice(value);
}

fn number(mut value: u64, to: &mut Vec<u8>) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}
