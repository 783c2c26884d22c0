<?php
namespace App\Http;

use Foo\Bar;
use Foo\Baz;
use Foo\Qux;

/**
 * A controller.
 */
#[Route('/x')]
final class UserController extends Controller implements A
{
    use SomeTrait;
    private const LIMIT = 10;
    private array $items = [];

    /** Constructor. */
    public function __construct(private Repo $repo)
    {
        $this->x = 1;
    }

    public static function show(int $id): Response
    {
        return new Response($id);
    }
}

interface Shape { public function area(): float; }

trait Loggable {
    public function log(string $m): void {
        echo $m;
    }
}

enum Suit: string {
    case Hearts = 'H';
    public function label(): string {
        return 'x';
    }
}

function helper($a) {
    return $a;
}
$closure = function ($x) {
    $a = 1;
    $b = 2;
    return $x;
};
