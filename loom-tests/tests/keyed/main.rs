//! Tables of keys (`src/keyed`): one bucket a key, whose slot may change hands and whose terms may change under its callers.
//!
//! | file | holds |
//! |---|---|
//! | `meet.rs` | newcomers: one bucket a key, one key a slot |
//! | `hands.rs` | a slot that changes hands under slow callers, once and back again |
//! | `terms.rs` | another tier, another rule |
//!
//! Each line was broken by hand, and these were seen to fail:
//!
//! | breakage | seen by |
//! |---|---|
//! | masks that are all 0 | `a_slot_taken_by_a_key_with_the_same_word`, `a_slot_taken_and_taken_back`, the next |
//! | masks without the tier and the terms, or without their number | `a_spend_in_old_terms_never_meets_a_bucket_in_new_ones` |
//! | `give`: the owner before the state | `three_callers_of_the_key_that_takes`, `a_slot_taken_and_taken_back`, and five more |
//! | `give`: state, owner or both relaxed; `owner` relaxed | `a_slot_taken_and_taken_back` |
//! | `take_if`: a store; `apply`: a store | `a_look_while_the_slot_is_taken_and_taken_back` |
//! | `take_if`: the swap relaxed; `taken_at` not noted, or noted after | `a_late_caller_finds_no_more_than_before_the_slot_was_taken` |
//! | `take_if`: `BUSY` not stored | `a_slot_taken_and_taken_back` |
//! | `take_free`: a load and a store | `two_new_keys_and_one_slot` |
//! | `apply`: no second look at the owner, or before the state; the state relaxed; no look for `MOVED` | `a_slot_taken_and_taken_back` |
//! | `apply`: a kept decision without a second look at the state | `a_slot_taken_and_taken_back` |
//! | `apply`: terms that are no longer current | both of `two_changes_…_and_a_slow_caller` |
//! | `see`: the state relaxed | `a_look_at_every_bucket_while_a_slot_is_taken` |
//! | `change`: the locks not passed | `two_changes_of_rule_and_a_newcomer` |
//! | `move_terms`: carried as of the caller's now | `a_rule_is_not_applied_to_time_already_past` |
//! | `change`: the slots not swept | `a_change_to_a_smaller_rule_while_a_slot_is_taken`, three of `two_changes_…` |
//! | `change`: swept without the lock | `two_changes_of_rule_and_a_slow_caller`, and four more |
//! | `change`: the shared bucket not swept | `two_changes_of_rule_and_a_shared_bucket` |
//! | `change`: two at once | `two_changes_by_two_changers_and_a_slow_caller` |
//! | `overflow`: the shared bucket moved without the lock | `a_change_of_rule_and_a_shared_bucket` |
//! | `move_terms`: nothing carried to another tier | `two_callers_who_disagree_about_the_tier`, and one more |
//! | `move_terms`: nothing carried to another rule | twelve |
//! | `room`: a bucket taken that is not full | `a_drained_bucket_is_never_reclaimed`, and ten more |
//! | `room`: old terms not passed over, by either mask | `a_change_to_a_larger_rule_while_a_slot_is_taken` |
//! | `room`: a slot that is being taken is not soon free | `one_of_two_takers_has_the_slot` |
//! | `Later`: the count stored or loaded relaxed | `two_changes_of_rule_and_a_slow_caller`, and one more |
//! | `meet`: without the lock | `two_callers_…` and `three_callers_of_a_new_key_share_one_bucket` |
//!
//! Cost: two or three preemptions at most (`ADMITTANCE_LOOM_LONG` takes the bound away: for some, more than minutes); about
//! half a minute together.
#![cfg(admittance_loom)]

mod hands;
mod meet;
mod support;
mod terms;
