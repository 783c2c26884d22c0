//! Areas of simple shapes.
use std::fmt;
use std::f64::consts::PI;
use std::ops::Add;

/// A circle by its radius.
#[derive(Debug, Clone)]
pub struct Circle {
    radius: f64,
}

impl fmt::Display for Circle {
    /// Writes the radius.
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "circle of {}", self.radius)
    }
}

pub trait Area {
    fn area(&self) -> f64;

    fn twice(&self) -> f64 {
        self.area() * 2.0
    }
}

mod tests {
    #[test]
    fn the_area_of_nothing_is_nothing() {
        assert_eq!(0.0 * super::PI, 0.0);
    }
}

macro_rules! square {
    ($side:expr) => { $side * $side };
}
