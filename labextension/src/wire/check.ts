/** Readers of `unknown` that name the place where a message is not what it should be. */

/** A message that does not follow the protocol; nothing of it was used. */
export class WireError extends Error {
  override readonly name = 'WireError';

  constructor(path: string, expected: string, got: unknown) {
    super(`${path} must be ${expected}, got ${describe(got)}`);
  }
}

function describe(value: unknown): string {
  if (value === null || value === undefined) {
    return String(value);
  }
  if (Array.isArray(value)) {
    return `an array of ${value.length}`;
  }
  if (typeof value === 'object') {
    return 'an object';
  }
  const text = typeof value === 'string' ? JSON.stringify(value) : typeof value === 'number' || typeof value === 'boolean' ? String(value) : typeof value;
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

/** Whether a value is an object with names. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value and where it stands; `at` steps inside. */
export class Field {
  constructor(
    readonly value: unknown,
    readonly path: string
  ) {}

  fail(expected: string): never {
    throw new WireError(this.path, expected, this.value);
  }

  at(name: string): Field {
    const { value } = this;
    if (!isRecord(value)) {
      this.fail('an object');
    }
    return new Field(Object.hasOwn(value, name) ? value[name] : undefined, `${this.path}.${name}`);
  }

  list(): Field[] {
    if (!Array.isArray(this.value)) {
      this.fail('an array');
    }
    return this.value.map((item: unknown, i) => new Field(item, `${this.path}[${i}]`));
  }

  /** An array of exactly `length`. */
  tuple(length: number): Field[] {
    const fields = this.list();
    return fields.length === length ? fields : this.fail(`an array of ${length}`);
  }

  text(): string {
    return typeof this.value === 'string' ? this.value : this.fail('a string');
  }

  flag(): boolean {
    return typeof this.value === 'boolean' ? this.value : this.fail('true or false');
  }

  /** A finite number. */
  number(): number {
    return typeof this.value === 'number' && Number.isFinite(this.value) ? this.value : this.fail('a finite number');
  }

  /** A whole number from 0 to `max`. */
  count(max = Number.MAX_SAFE_INTEGER): number {
    const ok = Number.isSafeInteger(this.value) && (this.value as number) >= 0 && (this.value as number) <= max;
    return ok
      ? (this.value as number)
      : this.fail(max === Number.MAX_SAFE_INTEGER ? 'a whole number, 0 or more' : `a whole number from 0 to ${max}`);
  }

  orNull<T>(read: (field: Field) => T): T | null {
    return this.value === null ? null : read(this);
  }

  oneOf<T extends string>(choices: readonly T[]): T {
    return choices.find(choice => choice === this.value) ?? this.fail(`one of ${choices.join(', ')}`);
  }
}
