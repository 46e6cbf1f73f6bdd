//! What happens to a key that finds no room.

/// What a table answers for a key that has no bucket and finds no room for one: every slot it could have holds a bucket
/// that is not full. There is no default: it is a choice between people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// Deny, and name the wait until the first of those buckets is full. Who is here already is served; a newcomer waits.
    Deny,
    /// Admit, and charge nobody. The limit does not hold for newcomers while the table is full.
    Admit,
    /// Charge one bucket that all newcomers of a tier share. They may exhaust it for each other.
    Share,
}
