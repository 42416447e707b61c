//! What passed through, and what it costs at most.
//!
//! A request is counted before its body is read, and its worst case is set aside before it goes out: what has not been answered yet
//! could else be asked many times over. The vendor's count replaces the worst case; where there is none, the worst case stands.

use super::Budget;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tribunal_core::call::fault::Fault;
use tribunal_core::call::money::Money;
use tribunal_core::call::usage::Usage;

/// What passed through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Account {
    /// Requests that went out.
    pub requests: u64,
    /// Those that the model began to answer.
    pub answers: u64,
    pub bytes_out: u64,
    pub bytes_in: u64,
    /// Tokens: those of `counted`, and the worst case of answers that nobody counted.
    pub usage: Usage,
    /// Tokens by the vendor's own count.
    pub counted: Usage,
    /// Requests that did not go out: a wrong word, another path, something the gate does not let through.
    pub refused: u64,
    /// Why the last of them did not.
    pub refusal: Option<String>,
    /// The child wanted more requests than it may have.
    pub is_used_up: bool,
    /// Or more money.
    pub is_out_of_money: bool,
    /// The last request failed, and this is how.
    pub fault: Option<Fault>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// The vendor's count is whole.
    Counted,
    /// It ended without a count, or with a part of one.
    Uncounted,
}

/// One request that the vendor may charge for.
#[derive(Debug, Clone, Copy)]
struct Paid {
    worst: Usage,
    counted: Usage,
    state: State,
}

impl Paid {
    /// Input is counted when an answer begins, output when it ends.
    fn usage(&self) -> Usage {
        let (worst, counted) = (self.worst, self.counted);
        match self.state {
            State::Counted => counted,
            State::Open | State::Uncounted if counted.is_nothing() => {
                Usage { uncounted: worst.total_input().saturating_add(worst.output), ..worst }
            }
            State::Open | State::Uncounted => {
                let output = counted.output.max(worst.output);
                Usage { output, uncounted: output - counted.output, ..counted }
            }
        }
    }

    fn cost(&self, budget: Budget) -> Money {
        match self.state {
            State::Counted | State::Uncounted => budget.price.cost(&self.usage()),
            State::Open => budget.most(self.worst),
        }
    }
}

#[derive(Default)]
struct Books {
    account: Account,
    failures: u64,
    paid: Vec<Paid>,
}

#[derive(Default)]
pub struct Ledger {
    books: Mutex<Books>,
    settled: Notify,
}

impl Ledger {
    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn account(&self) -> Account {
        let books = self.books();
        let usage = books.paid.iter().map(Paid::usage).sum();
        let counted = books.paid.iter().map(|paid| paid.counted).sum();
        Account { usage, counted, ..books.account.clone() }
    }

    /// Whether a request has gone out whose cost is not known yet.
    pub fn is_waiting(&self) -> bool {
        self.books().paid.iter().any(|paid| paid.state == State::Open)
    }

    /// Changes what needs no rule.
    pub fn write(&self, change: impl FnOnce(&mut Account)) {
        change(&mut self.books().account);
    }

    /// Counts a request, if there is one left. What is not sent after all is given back.
    pub fn take_request(&self, most: u64) -> bool {
        let mut books = self.books();
        let is_left = books.account.requests < most;
        match is_left {
            true => books.account.requests += 1,
            false => books.account.is_used_up = true,
        }
        is_left
    }

    pub fn give_request_back(&self) {
        self.books().account.requests -= 1;
    }

    /// Failures in a row.
    pub fn failures(&self) -> u64 {
        self.books().failures
    }

    /// How the last request ended.
    pub fn note(&self, fault: Option<Fault>) {
        let mut books = self.books();
        books.failures = if fault.is_some() { books.failures + 1 } else { 0 };
        books.account.fault = fault;
    }

    /// Sets the worst case of a request aside and returns its place, or nothing if the money is used up. With other requests on their
    /// way it must fit beside them, and waits until it does; the only one may cross the cap.
    pub async fn reserve(&self, worst: Usage, budget: Option<Budget>) -> Option<usize> {
        loop {
            let settled = self.settled.notified();
            if let Some(answer) = self.try_reserve(worst, budget) {
                return answer;
            }
            settled.await;
        }
    }

    fn try_reserve(&self, worst: Usage, budget: Option<Budget>) -> Option<Option<usize>> {
        let mut books = self.books();
        if let Some(budget) = budget {
            let sum = |is_open: bool| -> Money {
                books.paid.iter().filter(|paid| (paid.state == State::Open) == is_open).map(|paid| paid.cost(budget)).sum()
            };
            let (spent, reserved) = (sum(false), sum(true));
            if spent >= budget.cap {
                books.account.is_out_of_money = true;
                return Some(None);
            }
            if reserved > Money::ZERO && spent.plus(reserved).plus(budget.most(worst)) > budget.cap {
                return None;
            }
        }
        books.paid.push(Paid { worst, counted: Usage::default(), state: State::Open });
        Some(Some(books.paid.len() - 1))
    }

    /// What the vendor has counted so far. Written down before the child sees the bytes: it may be gone a moment later.
    pub fn count(&self, place: usize, usage: Usage) {
        if let Some(paid) = self.books().paid.get_mut(place) {
            paid.counted = usage;
        }
    }

    /// `is_counted`: nothing is to come. Without it the worst case stands.
    pub fn settle(&self, place: usize, is_counted: bool) {
        if let Some(paid) = self.books().paid.get_mut(place).filter(|paid| paid.state == State::Open) {
            paid.state = if is_counted { State::Counted } else { State::Uncounted };
        }
        self.settled.notify_waiters();
    }
}
