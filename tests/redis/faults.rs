//! What goes wrong with a store, and what callers are told meanwhile: each fault is done to a real server.

mod busy;
mod connections;
mod flush;
mod idle;
mod memory;
mod network;
mod paused;
mod permission;
mod replica;
mod restart;
mod runtime;
mod three;
mod together;
mod value;
