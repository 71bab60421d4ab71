/** Makes its value at the first call and gives the same one from then on. */
export interface Once<Value> {
  (): Value;
  /** The value, when it was made and has not failed: for whoever closes it. */
  kept(): Value | undefined;
}

/** Keeps what `make` gives, but no failure: after a throw or a rejected promise the next call makes it anew. */
export function once<Value>(make: () => Value): Once<Value> {
  let made: { readonly value: Value } | undefined;
  const give = (): Value => {
    if (made !== undefined) return made.value;
    const value = make();
    made = { value };
    if (value instanceof Promise) {
      value.catch(() => {
        made = undefined;
      });
    }
    return value;
  };
  return Object.assign(give, { kept: () => made?.value });
}
