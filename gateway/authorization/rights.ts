import type { Caller } from '../../platform/access/caller.ts';
import type { Rights } from './security-rules.ts';

/** What claims give. */
export interface RightsOptions {
  /** The claim with scopes: a list, or a text with spaces. */
  readonly scopesClaim?: string | undefined;
  /** Who has a policy: whose claim is there, or is or holds one of the values. */
  readonly policies?:
    | Readonly<Record<string, { readonly claim: string; readonly anyOf?: readonly string[] | undefined }>>
    | undefined;
}

/** Finds the rights of callers. */
export function createRights({
  scopesClaim = 'scope',
  policies = {},
}: RightsOptions): (caller: Caller) => Rights {
  const known = new WeakMap<object, Rights>();
  return ({ kind, claims, scopes }) => {
    if (kind === 'anonymous') return NO_RIGHTS;
    // Kiln's own tokens have no claims.
    if (claims === undefined) return { isAuthenticated: true, scopes: new Set(scopes), policies: NONE };
    const found = known.get(claims);
    if (found !== undefined) return found;
    const given = Object.entries(policies).filter(([, { claim, anyOf }]) => {
      const values = readTexts(claims[claim]);
      return anyOf === undefined ? values.length > 0 : anyOf.some((one) => values.includes(one));
    });
    const rights: Rights = {
      isAuthenticated: true,
      scopes: new Set(readTexts(claims[scopesClaim]).flatMap((text) => text.split(' '))),
      policies: new Set(given.map(([name]) => name)),
    };
    known.set(claims, rights);
    return rights;
  };
}

const NONE: ReadonlySet<string> = new Set();
const NO_RIGHTS: Rights = { isAuthenticated: false, scopes: NONE, policies: NONE };

/** What a claim is or holds, as texts. */
function readTexts(claim: unknown): readonly string[] {
  if (Array.isArray(claim)) return claim.map(String);
  if (claim === undefined || claim === null || claim === false || claim === '') return [];
  return [typeof claim === 'object' ? JSON.stringify(claim) : `${claim as string | number}`];
}
