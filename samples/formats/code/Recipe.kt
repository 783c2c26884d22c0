package kitchen

import kotlin.math.max
import kotlin.math.min

/** A dish and how many it feeds. */
data class Recipe(val name: String, val people: Int) {
    val label = name

    fun scale(to: Int): Recipe {
        return copy(people = max(1, to))
    }

    companion object {
        fun empty(): Recipe {
            return Recipe("", 0)
        }
    }
}

fun List<Recipe>.largest(): Recipe? {
    return this.maxByOrNull { it.people }
}
