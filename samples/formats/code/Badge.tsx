import React from "react";

export interface BadgeProps {
  label: string;
  colour?: "red" | "green";
}

export type Size = "small" | "large";

/** Shows a word in a coloured box. */
export function Badge({ label, colour }: BadgeProps) {
  return <span className={colour}>{label}</span>;
}

export abstract class Store<T> {
  abstract read(): T;

  @logged()
  write(value: T): void {
    this.value = value;
  }
}

export namespace Colours {
  export const parse = (text: string) => {
    return text.trim();
  };
}
