import type { CallerQuery } from '../../../api/documents/operations.ts';
import { t } from '../../../text/text.ts';

/** For whom things are bought here, and how a browser that went away to pay finds back to its form. */

const NAME = 'kiln.buyer';
const LEFT = 'kiln.checkout';

/** The name that a visitor's purchases carry, by which this browser finds them again. */
function visitorName(): string {
  const known = localStorage.getItem(NAME);
  if (known !== null) return known;
  const name = `visitor-${crypto.randomUUID()}`;
  localStorage.setItem(NAME, name);
  return name;
}

/** What a buyer is called: by name, by address, as a visitor, else by id. */
export function buyerText({
  userId,
  user,
}: {
  readonly userId: string;
  readonly user: { readonly name: string | null; readonly email: string | null } | null;
}): string {
  const [, visitor] = /^visitor-(\w{8})-/.exec(userId) ?? [];
  const id = visitor === undefined ? userId : t('shop.visitor', { id: visitor });
  return user?.name ?? user?.email ?? id;
}

/** Who buys: the user, or the visitor's name; null for a key, which buys nothing for itself. */
export function buyerOf(caller: CallerQuery['caller'] | undefined): string | null {
  if (caller?.kind === 'USER') return caller.id;
  return caller?.kind === 'ANONYMOUS' ? visitorName() : null;
}

/** Whose lists are shown: a visitor's by their name, everybody else's by who they are. */
export function listedFor(caller: CallerQuery['caller'] | undefined): string | null {
  return caller?.kind === 'ANONYMOUS' ? visitorName() : null;
}

/** A checkout that this tab has left for. */
export interface LeftCheckout {
  readonly paymentId: string;
  readonly code: string;
  /** What the form held. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** Remembers a checkout over the way to the payment page and back. */
export function leaveFor(checkout: LeftCheckout): void {
  sessionStorage.setItem(LEFT, JSON.stringify(checkout));
}

/** The checkout that this tab has left for; null when there is none. */
export function leftCheckout(): LeftCheckout | null {
  const text = sessionStorage.getItem(LEFT);
  return text === null ? null : (JSON.parse(text) as LeftCheckout);
}

/** Forgets it: it was paid, or its form is filled again. */
export function forgetCheckout(): void {
  sessionStorage.removeItem(LEFT);
}
