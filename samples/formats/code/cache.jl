module Cache
using Base
import LinearAlgebra: norm
export get

"""
    get(c, k)

Gets.
"""
function get(c::Cache{K}, k) where {K}
    return c.d[k]
end

area(r) = 3.14 * r^2

struct Point{T} <: Abs
    x::T
    y::T
end

mutable struct M
    a
    b
    c
end

abstract type Abs end

macro sayhello(name)
    return :(println("Hello, ", $name))
end

function Base.show(io::IO, p::Point)
    print(io, p.x)
end

const TABLE = Dict(
    1 => 2,
    2 => 3,
    3 => 4,
)
end
