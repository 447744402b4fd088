//! `Plant::step` and `Plant::fill` do not allocate.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(missing_docs, non_snake_case, unreachable_pub)]
#![allow(unsafe_code, reason = "a global allocator is unsafe by nature")]

#[path = "common/drive.rs"]
mod drive;
#[path = "common/robots.rs"]
mod robots;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use hardstand::plant::{Event, Integrator, Plant};

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator; counts the calls of each thread.
struct Counting;

fn count() {
    // during the end of a thread there is nothing to count in
    let _ = CALLS.try_with(|c| c.set(c.get() + 1));
}

// SAFETY: every call is passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        count();
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(p, layout) }
    }
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(p, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Calls of the allocator while `work` runs.
fn calls(work: impl FnOnce()) -> u64 {
    let before = CALLS.with(Cell::get);
    work();
    CALLS.with(Cell::get) - before
}

#[test]
fn the_counter_sees_an_allocation() {
    let mut v = Vec::new();
    assert_eq!(calls(|| v.push(1u8)), 1);
    assert_eq!(calls(|| drop(v)), 1);
    assert_eq!(calls(|| ()), 0);
}

#[test]
fn a_tick_does_not_allocate() {
    for integrator in [Integrator::SemiImplicitEuler, Integrator::Rk4] {
        let (model, mut spec) = robots::walker();
        spec.integrator = integrator;
        let mut plant = Plant::new(model, spec);
        let mut snapshot = plant.new_snapshot();
        let mut newest = snapshot.clone();
        for tick in 0..600 {
            let mut input = drive::busy_input(&plant);
            if tick == 590 {
                // also a fault does not
                let force_W = [f64::NAN, 0.0, 0.0];
                input.events.push(Event::Push { body: 0, point_B: [0.0; 3], force_W, ticks: 1 });
            }
            let n = calls(|| {
                plant.step(&input);
                plant.fill(&mut snapshot);
                newest.copy_from(&snapshot);
            });
            assert_eq!(n, 0, "calls of the allocator in tick {tick}");
            assert_eq!(newest, snapshot);
        }
        assert!(plant.fault().is_some());
    }
}
