package com.example
import scala.collection.mutable
import cats.effect.IO
import cats.syntax.all._

/** A cache. */
trait Cache[F[_], K] {
  def get(k: K): F[Option[Int]]
  def put(k: K, v: Int): F[Unit] = {
    ???
  }
}

object Cache {
  case class Entry(a: Int, b: Int)

  def apply[F[_]](n: Int): Cache[F, Int] =
    new Impl(n)

  implicit val ordering: Ordering[Entry] = Ordering.by { e =>
    val a = e.a
    val b = e.b
    a + b
  }
  type Id[A] = A
}

class Impl(n: Int) extends Cache[IO, Int] {
  override def get(k: Int) = {
    IO.pure(None)
  }
}

enum Color:
  case Red, Green
  def f: Int = 1

given foo: Ordering[Int] with
  def compare(a: Int, b: Int): Int =
    a - b

extension (s: String)
  def shout: String =
    s.toUpperCase
