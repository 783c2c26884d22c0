import Foundation
import UIKit

/// A cache of images.
public final class ImageCache<Key: Hashable>: NSObject {
    private var store: [Key: UIImage] = [:]

    /// Creates it.
    public init(limit: Int) {
        self.limit = limit
    }

    deinit { print("x") }

    @discardableResult
    func image(for key: Key) -> UIImage? {
        return store[key]
    }

    subscript(key: Key) -> UIImage? {
        get { store[key] }
        set { store[key] = newValue }
    }

    var count: Int {
        let a = 1
        return store.count + a
    }
}

extension ImageCache: Sequence where Key == String {
    func makeIterator() -> Int {
        return 1
    }
}

protocol Loader {
    func load(_ url: URL) async throws -> Data
    var name: String { get }
}

enum Result<T> {
    case success(T)
    case failure(Error)
    func get() -> T {
        fatalError()
    }
}

struct Point { var x: Int; var y: Int }

actor Bank {
    func deposit() {
        x += 1
    }
}

typealias Handler = (Int) -> Void

func topLevel(a: Int) -> Int {
    return a
}
