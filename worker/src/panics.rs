//! Panics of games: a failed game with its message, instead of a backtrace on the terminal for each
//! of a thousand games.

use std::cell::{Cell, RefCell};
use std::panic;
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Silences panics of this thread; the code that catches them reports them. Other threads' panics
/// go to the previous hook.
pub(crate) fn silence_on_this_thread() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if QUIET.get() {
                PLACE.set(info.location().map(ToString::to_string));
            } else {
                before(info);
            }
        }));
    });
    QUIET.set(true);
}

/// The place of this thread's last panic, once.
pub(crate) fn last_panic_location() -> Option<String> {
    PLACE.take()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_caught_panic_is_known() {
        let place = std::thread::spawn(|| {
            silence_on_this_thread();
            panic::catch_unwind(|| panic!("ouch")).unwrap_err();
            (last_panic_location(), last_panic_location())
        });
        let (first, second) = place.join().unwrap();
        assert!(first.unwrap().contains("panics.rs"));
        assert_eq!(second, None);
    }
}
