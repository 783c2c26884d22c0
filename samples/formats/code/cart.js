// Keeps what a visitor wants to buy.
import { load, save } from "./storage.js";
import { round } from "./money.js";
import { log } from "./log.js";

/** The lines of a cart. */
export class Cart {
  lines = [];

  /** Add a product. */
  add(product, count = 1) {
    this.lines.push({ product, count });
    save(this.lines);
  }

  clear = () => {
    this.lines = [];
  };

  get empty() { return this.lines.length === 0; }
}

export const total = (cart) => {
  return round(cart.lines.reduce((sum, line) => sum + line.count, 0));
};

exports.restore = async function () {
  log("restore");
  return load();
};

(function () {
  function watch() {
    return 1;
  }
  watch();
})();
