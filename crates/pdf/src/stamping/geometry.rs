//! Positions of the label on a page.

use super::{Damage, Unreadable};

const TOO_LARGE: Unreadable = Unreadable::Damaged(Damage::PageSize);

/// The default page size: US letter.
const LETTER: Rect = Rect { left: 0.0, bottom: 0.0, width: 612.0, height: 792.0 };
const SMALLEST: f64 = 1.0;
const LARGEST: f64 = 1_000_000.0;

/// The maximum short side of a cell, in points, and its maximum aspect ratio. A larger page is divided into cells,
/// each with a label.
const CELL: f64 = 1_200.0;
const MAX_CELL_RATIO: f64 = 1.6;
/// The maximum number of labels in each direction, and per page.
const MAX_SIDE_MARGIN: f64 = 60.0;
const MAX_MARGIN: f64 = 120.0;
/// The share of its cell that a label fills.
const FILLED: f64 = 0.88;
/// The minimum and maximum angle of a label in degrees; within them it follows the diagonal of its cell.
const FLATTEST: f64 = 20.0;
const STEEPEST: f64 = 60.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rect {
    left: f64,
    bottom: f64,
    width: f64,
    height: f64,
}

impl Rect {
    /// Returns the rectangle between two opposite corners, in any order; `None` if it is empty.
    pub(super) fn new([x1, y1, x2, y2]: [f64; 4]) -> Result<Option<Self>, Unreadable> {
        let (left, bottom) = (x1.min(x2), y1.min(y2));
        let (width, height) = ((x1 - x2).abs(), (y1 - y2).abs());
        let is_sound = [left.abs(), bottom.abs(), width, height].iter().all(|side| *side <= LARGEST);
        if !is_sound {
            return Err(TOO_LARGE);
        }
        Ok((width >= SMALLEST && height >= SMALLEST).then_some(Self { left, bottom, width, height }))
    }

    pub(super) const fn size(self) -> (f64, f64) {
        (self.width, self.height)
    }

    fn and(self, other: Self) -> Option<Self> {
        let (left, bottom) = (self.left.max(other.left), self.bottom.max(other.bottom));
        let right = (self.left + self.width).min(other.left + other.width).max(left);
        let top = (self.bottom + self.height).min(other.bottom + other.height).max(bottom);
        // The intersection of two rectangles within the limits is within them too.
        Self::new([left, bottom, right, top]).unwrap_or_default()
    }
}

/// The visible part of a page.
pub(super) fn visible(media: Option<Rect>, crop: Option<Rect>) -> Rect {
    let media = media.unwrap_or(LETTER);
    crop.and_then(|crop| media.and(crop)).unwrap_or(media)
}

type Point = (f64, f64);

/// A transformation matrix: the images of a step to the right, a step up, and the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Matrix {
    right: Point,
    up: Point,
    origin: Point,
}

impl Matrix {
    const fn moving(origin: Point) -> Self {
        Self { right: (1.0, 0.0), up: (0.0, 1.0), origin }
    }

    fn step(self, (x, y): Point) -> Point {
        (x * self.right.0 + y * self.up.0, x * self.right.1 + y * self.up.1)
    }

    fn point(self, point: Point) -> Point {
        let (x, y) = self.step(point);
        (x + self.origin.0, y + self.origin.1)
    }

    fn then(self, next: Self) -> Self {
        Self { right: next.step(self.right), up: next.step(self.up), origin: next.point(self.origin) }
    }

    /// The six numbers of the PDF operator `cm`.
    pub(super) const fn numbers(self) -> [f64; 6] {
        let Self { right, up, origin } = self;
        [right.0, right.1, up.0, up.1, origin.0, origin.1]
    }
}

/// Returns the positions of a label of this size, so that it appears upright and diagonal to the reader.
pub(super) fn placements(page: Rect, rotate: i64, (width, height): (f64, f64)) -> Vec<Matrix> {
    let Rect { left, bottom, width: across, height: up } = page;
    // From the page as displayed, with its corner at the origin, to the coordinates of the file.
    let (right, top) = (left + across, bottom + up);
    let (seen, seen_width, seen_height) = match rotate.rem_euclid(360) {
        90 => (Matrix { right: (0.0, 1.0), up: (-1.0, 0.0), origin: (right, bottom) }, up, across),
        180 => (Matrix { right: (-1.0, 0.0), up: (0.0, -1.0), origin: (right, top) }, across, up),
        270 => (Matrix { right: (0.0, -1.0), up: (1.0, 0.0), origin: (left, top) }, up, across),
        _ => (Matrix::moving((left, bottom)), across, up),
    };
    let (columns, rows) = cells(seen_width, seen_height);
    let (cell_width, cell_height) = (seen_width / columns, seen_height / rows);
    let angle = cell_height.atan2(cell_width).clamp(FLATTEST.to_radians(), STEEPEST.to_radians());
    let (sin, cos) = angle.sin_cos();
    let scale =
        FILLED * (cell_width / (width * cos + height * sin)).min(cell_height / (width * sin + height * cos));
    let turned =
        Matrix { right: (scale * cos, scale * sin), up: (-scale * sin, scale * cos), origin: (0.0, 0.0) };
    let centred = Matrix::moving((-width / 2.0, -height / 2.0)).then(turned);
    let steps =
        |count: f64| std::iter::successors(Some(0.5), |at| Some(at + 1.0)).take_while(move |at| *at < count);
    steps(rows)
        .flat_map(|row| steps(columns).map(move |column| (column, row)))
        .map(|(column, row)| {
            centred.then(Matrix::moving((column * cell_width, row * cell_height))).then(seen)
        })
        .collect()
}

/// Returns the number of columns and rows of cells, each with its own label.
fn cells(width: f64, height: f64) -> (f64, f64) {
    let short = width.min(height).min(CELL);
    let count = |side: f64| (side / (short * MAX_CELL_RATIO)).ceil().clamp(1.0, MAX_SIDE_MARGIN);
    let (columns, rows) = (count(width), count(height));
    let excess = (columns * rows / MAX_MARGIN).sqrt().max(1.0);
    ((columns / excess).floor(), (rows / excess).floor())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LABEL: (f64, f64) = (200.0, 30.0);

    fn rect(corners: [f64; 4]) -> Rect {
        Rect::new(corners).unwrap().unwrap_or(LETTER)
    }

    /// The corners of the label on the page.
    fn corners(matrix: Matrix) -> [Point; 4] {
        let (width, height) = LABEL;
        [(0.0, 0.0), (width, 0.0), (0.0, height), (width, height)].map(|corner| matrix.point(corner))
    }

    #[test]
    fn labels_are_on_the_page_and_diagonal_to_its_reader() {
        let pages = [
            [0.0, 0.0, 595.0, 842.0],
            [842.0, 595.0, 0.0, 0.0],
            [-100.0, 50.0, -50.0, 100.0],
            [10.0, 10.0, 12.0, 900_000.0],
            [0.0, 0.0, 14_400.0, 14_400.0],
            [0.0, 0.0, 900_000.0, 1.5],
            [300.0, 300.0, 595.0, 20_000.0],
        ];
        for page in pages.map(rect) {
            for rotate in [0_i32, 90, 180, 270, -90, 450] {
                let placements = placements(page, rotate.into(), LABEL);
                assert!(!placements.is_empty() && placements.len() <= 120, "{page:?} {}", placements.len());
                for matrix in placements {
                    for (x, y) in corners(matrix) {
                        assert!(x > page.left && x < page.left + page.width, "{page:?} {rotate} {x}");
                        assert!(y > page.bottom && y < page.bottom + page.height, "{page:?} {rotate} {y}");
                    }
                    // The angle of the text on the page, minus the page's rotation.
                    let angle = matrix.right.1.atan2(matrix.right.0).to_degrees();
                    let seen = (angle - f64::from(rotate)).rem_euclid(360.0);
                    assert!((19.9..=60.1).contains(&seen), "{page:?} {rotate} {seen}");
                }
            }
        }
    }

    #[test]
    fn a_long_page_has_many_labels() {
        let count = |corners| placements(rect(corners), 0, LABEL).len();
        assert_eq!(count([0.0, 0.0, 595.0, 842.0]), 1);
        assert_eq!(count([0.0, 0.0, 842.0, 595.0]), 1);
        assert_eq!(count([0.0, 0.0, 50.0, 50.0]), 1);
        assert_eq!(count([0.0, 0.0, 595.0, 9_000.0]), 10);
        assert!(count([0.0, 0.0, 14_400.0, 14_400.0]) > 40);
    }

    #[test]
    fn what_is_no_page_is_taken_for_a_sheet_of_paper() {
        assert_eq!(visible(None, None), LETTER);
        let visible = |crop| visible(Some(rect([0.0, 0.0, 100.0, 100.0])), Some(rect(crop)));
        assert_eq!(visible([20.0, 20.0, 300.0, 60.0]), rect([20.0, 20.0, 100.0, 60.0]));
        assert_eq!(visible([200.0, 20.0, 300.0, 60.0]), rect([0.0, 0.0, 100.0, 100.0]));
        assert_eq!(Rect::new([0.0; 4]), Ok(None));
    }

    #[test]
    fn what_is_too_large_is_refused() {
        for corners in [
            [0.0, 0.0, f64::INFINITY, 5.0],
            [f64::NAN, 0.0, 5.0, 5.0],
            [1e300; 4],
            [0.0, 0.0, 1_000_001.0, 5.0],
            [-600_000.0, 0.0, 600_000.0, 5.0],
        ] {
            assert_eq!(Rect::new(corners), Err(TOO_LARGE));
        }
    }
}
