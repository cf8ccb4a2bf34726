//! Keyset pagination: a page is requested by the last row of the previous one, never by counting rows.

/// The maximum size of the rows in a page; a page of large rows ends before its limit.
pub const MAX_PAGE_BYTES: usize = 4 << 20;

/// Ascending or descending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Order {
    Ascending,
    #[default]
    Descending,
}

/// The sort key of a row; the id breaks ties.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    Text(String),
    Number(i64),
    /// Sorted by id alone.
    Id,
}

/// The sort order of a list, which determines the kind of key in its cursors.
pub trait Sort: crate::text::Parse + Default + Copy + std::fmt::Display {
    fn takes(self, key: &Key) -> bool;

    /// The default order of the list.
    fn natural_order(self) -> Order {
        Order::Descending
    }
}

/// A cursor: the page starts after this row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct After {
    pub key: Key,
    pub id: String,
}

/// The requested page of a list.
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
    /// An empty page, which is the last one.
    pub fn empty() -> Self {
        Self { items: Vec::new(), next: None }
    }

    /// Builds a page from up to `limit + 1` rows; the extra row only shows that more follow.
    pub fn cut(items: Vec<T>, limit: u16, place: impl FnOnce(&T) -> After) -> Self {
        Self::cut_early(items, limit, false, place)
    }

    /// Like [`Self::cut`], for rows that may end before the limit because they are large (`is_cut`); then more always
    /// follow.
    pub fn cut_early(mut items: Vec<T>, limit: u16, is_cut: bool, place: impl FnOnce(&T) -> After) -> Self {
        let more = is_cut || items.len() > usize::from(limit);
        items.truncate(usize::from(limit));
        let next = if more { items.last().map(place) } else { None };
        Self { items, next }
    }
}

/// Sorts historical rows as the database sorts current ones, and drops those before the cursor.
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
