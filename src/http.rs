//! stub
use crate::identity::Address;
use crate::policy::Policy;
use core::net::IpAddr;
use core::time::Duration;
use http::{HeaderMap, StatusCode};
/// a
#[derive(Debug)]
pub struct ClientAddress;
impl ClientAddress {
    /// a
    pub const fn peer() -> Self {
        Self
    }
    /// a
    pub fn address(&self, p: IpAddr, _h: &HeaderMap) -> Address {
        Address::new(p)
    }
}
/// a
#[derive(Clone, Copy, Debug)]
pub enum Dialect {
    /// a
    DraftList,
}
/// a
#[derive(Debug)]
pub struct RateLimitFields;
impl RateLimitFields {
    pub(crate) fn new<'p>(_d: Dialect, _p: impl IntoIterator<Item = &'p Policy>) -> Result<Self, core::fmt::Error> {
        Ok(Self)
    }
    pub(crate) fn write(&self, _h: &mut HeaderMap, _p: usize, _s: &Standing) {}
}
pub(crate) struct Standing {
    pub(crate) remaining: u64,
    pub(crate) retry_after: Option<Duration>,
}
/// a
#[derive(Debug)]
pub struct Problem;
impl Problem {
    pub(crate) const CONTENT_TYPE: &'static str = "application/problem+json";
    pub(crate) fn exhausted(_n: &str, _s: u64) -> Self {
        Self
    }
    pub(crate) fn too_large(_n: &str, _c: u64) -> Self {
        Self
    }
    pub(crate) fn store_down(_n: &str) -> Self {
        Self
    }
    pub(crate) fn anonymous() -> Self {
        Self
    }
    pub(crate) fn body(&self) -> String {
        String::new()
    }
    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::OK
    }
}
pub(crate) fn retry_after_seconds(d: Duration) -> u64 {
    d.as_secs().max(1)
}
