//! The controllers by name: the loop knows them by numbers only.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hardstand_protocol::ControllerReading;
use hardstand_protocol::{SavedState, controller_number};

/// Names by number and who has joined, shared between those who speak to people.
#[derive(Clone, Debug, Default)]
pub struct ControllerRegistry(Arc<Mutex<Entries>>);

#[derive(Debug, Default)]
struct Entries {
    names: BTreeMap<u64, String>,
    /// Of these, the controllers that have asked to join, oldest first.
    askers: VecDeque<u64>,
    present: BTreeMap<String, ControllerReading>,
}

/// Names that are remembered. Strangers cannot fill the memory with more.
const NAMES_MAX: usize = 1000;

impl ControllerRegistry {
    /// A registry that knows these names.
    #[must_use]
    pub fn of(names: &[String]) -> Self {
        let registry = Self::default();
        names.iter().for_each(|name| registry.note(name));
        registry
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a name.
    pub fn note(&self, name: &str) {
        let mut entries = self.entries();
        if entries.names.len() < NAMES_MAX {
            entries.names.insert(controller_number(name), name.into());
        }
    }

    /// Remembers a controller that asks to join. If there is no room, the oldest that has asked and
    /// is not here is forgotten.
    pub fn note_asker(&self, name: &str) {
        let (mut entries, number) = (self.entries(), controller_number(name));
        let Entries { names, askers, present } = &mut *entries;
        if names.contains_key(&number) {
            return;
        }
        let is_away = |n: &u64| names.get(n).is_none_or(|name| !present.contains_key(name));
        if names.len() >= NAMES_MAX
            && let Some(oldest) = askers.iter().position(is_away).and_then(|i| askers.remove(i))
        {
            names.remove(&oldest);
        }
        if names.len() < NAMES_MAX {
            names.insert(number, name.into());
            askers.push_back(number);
        }
    }

    /// Remembers the names of a saved state.
    pub fn note_all(&self, saved: Option<&SavedState>) {
        saved.iter().flat_map(|saved| &saved.controllers).for_each(|name| self.note(name));
    }

    /// The name of a controller.
    #[must_use]
    pub fn name(&self, number: u64) -> String {
        let known = self.entries().names.get(&number).cloned();
        known.unwrap_or_else(|| format!("{number:016x}"))
    }

    /// A controller has joined.
    pub fn enter(&self, controller: ControllerReading) {
        let mut entries = self.entries();
        if entries.present.len() < NAMES_MAX {
            entries.present.insert(controller.name.clone(), controller);
        }
    }

    /// The controller with this session has left.
    pub fn leave(&self, session: u64) {
        self.entries().present.retain(|_, c| c.session != session || session == 0);
    }

    /// Another run has begun: everybody has to come again.
    pub fn begin_again(&self) {
        self.entries().present.clear();
    }

    /// Who has joined, by name.
    #[must_use]
    pub fn present(&self) -> Vec<ControllerReading> {
        self.entries().present.values().cloned().collect()
    }
}
