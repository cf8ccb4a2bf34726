//! Keyset pages: a page is asked for by where the last one ended, never by counting rows.

/// The bytes of its rows that a page holds at most: a page of large rows ends before its limit.
pub const MAX_PAGE_BYTES: usize = 4 << 20;

/// Ascending or descending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Order {
    Ascending,
    #[default]
    Descending,
}

/// The place of a row in a sorted list: the sort key, then the id that breaks ties.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    Text(String),
    Number(i64),
    /// Sorted by id alone.
    Id,
}

/// What a list is sorted by: which kind of key its cursors carry.
pub trait Sort: crate::text::Parse + Default + Copy + std::fmt::Display {
    fn takes(self, key: &Key) -> bool;

    /// The order of a list that does not ask for one.
    fn natural_order(self) -> Order {
        Order::Descending
    }
}

/// Where a page starts: after this row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct After {
    pub key: Key,
    pub id: String,
}

/// Which page of a list is wanted.
#[derive(Clone, Debug)]
pub struct PageRequest<S> {
    pub sort: S,
    pub order: Order,
    pub limit: u16,
    pub after: Option<After>,
}

/// One page; `next` is set when more rows follow.
#[derive(Clone, Debug)]
pub struct Page<T> {
    pub items: Vec<T>,
    pub next: Option<After>,
}

impl<T> Page<T> {
    /// A page without anything, the last one.
    pub fn empty() -> Self {
        Self { items: Vec::new(), next: None }
    }

    /// Makes a page from up to `limit + 1` rows: the extra row only tells that more follow.
    pub fn cut(items: Vec<T>, limit: u16, place: impl FnOnce(&T) -> After) -> Self {
        Self::cut_early(items, limit, false, place)
    }

    /// The same of rows that end before the limit because they are large: then more follow in any case.
    pub fn cut_early(mut items: Vec<T>, limit: u16, is_cut: bool, place: impl FnOnce(&T) -> After) -> Self {
        let more = is_cut || items.len() > usize::from(limit);
        items.truncate(usize::from(limit));
        let next = if more { items.last().map(place) } else { None };
        Self { items, next }
    }
}

/// Sorts things of the past the way the database sorts those of the present, and cuts a page.
pub fn page_of<T>(
    mut items: Vec<T>,
    order: Order,
    after: Option<&After>,
    place: impl Fn(&T) -> After,
) -> Vec<T> {
    let ahead = |a: &After, b: &After| a.key.cmp(&b.key).then_with(|| a.id.cmp(&b.id));
    items.sort_by(|a, b| {
        let by = ahead(&place(a), &place(b));
        if order == Order::Ascending { by } else { by.reverse() }
    });
    if let Some(after) = after {
        items.retain(|item| {
            let by = ahead(&place(item), after);
            if order == Order::Ascending { by.is_gt() } else { by.is_lt() }
        });
    }
    items
}
