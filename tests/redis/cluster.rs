//! Budgets in a real cluster, and while it changes.

mod everywhere;
mod failover;
mod moving;
mod reshard;
