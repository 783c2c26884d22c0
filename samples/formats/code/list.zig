const std = @import("std");
const mem = std.mem;

/// A list.
pub fn ArrayList(comptime T: type) type {
    return struct {
        const Self = @This();
        items: []T,

        pub fn init(a: Allocator) Self {
            return .{ .items = a };
        }
    };
}

pub const Point = struct {
    x: i32,
    y: i32,

    /// Adds.
    pub fn add(self: Point, o: Point) Point {
        return o;
    }
};

pub const Color = enum { red, green };

test "add works" {
    try std.testing.expect(true);
}

pub const Error = error{
    A,
    B,
    C,
};

pub fn main() !void {
    std.debug.print("x", .{});
}
