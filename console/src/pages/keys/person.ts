import type { PersonPartsFragment } from '../../api/operations.ts';

/** What somebody is called: by name, by address, by what the identity provider calls them, else by id. */
export function nameOf({ name, email, subject, id }: PersonPartsFragment): string {
  return name ?? email ?? subject ?? id;
}
