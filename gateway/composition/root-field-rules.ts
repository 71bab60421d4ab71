import type { KeyScope } from '../../platform/access/caller.ts';
import { enforce, enforceScope, type AuthMode, type Rule } from '../../platform/access/policy.ts';
import { AppError, toError } from '../../platform/errors.ts';
import rules from '../../schema/root-field-rules.json' with { type: 'json' };
import type { RefuseRootField } from '../federation/refused-operation.ts';

interface RuledField {
  readonly rule: Rule;
  readonly scope: KeyScope | null;
}

// TypeScript reads the texts of a JSON file as any texts; `npm run schema` writes nothing but rules and scopes.
const RULES = rules as Readonly<Record<string, Readonly<Record<string, RuledField | undefined>>>>;

/** Says why a caller may not use a root field of Kiln's graph, as the subgraphs would: they enforce the same rules. */
export function createRootFieldRefusals(mode: AuthMode): RefuseRootField {
  return (kind, name, caller) => {
    const field = RULES[kind]?.[name];
    if (field === undefined) return null;
    try {
      enforce(field.rule, caller, mode);
      enforceScope(caller, field.scope);
      return null;
    } catch (thrown) {
      if (thrown instanceof AppError) return thrown;
      throw toError(thrown);
    }
  };
}
