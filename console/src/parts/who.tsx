import { useQuery } from '@apollo/client/react';

import { useCaller } from '../api/caller.ts';
import { NameOfDocument, NamesDocument } from '../api/documents/api.ts';
import { useSharedQuery } from '../api/shared-queries.ts';
import { t } from '../text/text.ts';

/** The name of a person or a key in the place of their id, for who may see names; the id is told on hover. */
export function Who({ id }: { readonly id: string }) {
  const seesNames = useCaller()?.mayIssueKeys === true;
  const isNamed = /^(usr|key)_/.test(id);
  return (
    <span title={id}>{id === 'anon' ? t('who.visitor') : seesNames && isNamed ? <Name id={id} /> : id}</span>
  );
}

function Name({ id }: { readonly id: string }) {
  const { data } = useSharedQuery(NamesDocument);
  if (data === undefined) return id;
  const found = nameIn(data, id);
  if (found !== undefined) return found;
  return id.startsWith('usr_') ? <NameAskedFor id={id} /> : t('who.removedKey');
}

/** The first page of people has most of them; others are asked for one by one. */
function NameAskedFor({ id }: { readonly id: string }) {
  const { data } = useQuery(NameOfDocument, { variables: { id } });
  const node = data?.users.edges.find((edge) => edge.node.id === id)?.node;
  return node?.name ?? node?.email ?? id;
}

interface Names {
  readonly serviceKeys: readonly { readonly id: string; readonly name: string }[];
  readonly users: {
    readonly edges: readonly {
      readonly node: { readonly id: string; readonly name: string | null; readonly email: string | null };
    }[];
  };
}

/** The id of a key that was made here, as against one of the settings: twelve random bytes have letters of both cases. */
const MADE_KEY = /^key_(?=.*[a-z])(?=.*[A-Z])[\w-]{16}$/;

/** The name that an id has in these lists; undefined for a person on another page of them, and for a key that was removed. */
export function nameIn({ serviceKeys, users }: Names, id: string): string | undefined {
  const key = serviceKeys.find((one) => one.id === id);
  const person = users.edges.find(({ node }) => node.id === id)?.node;
  // Those of the settings are in no list, and have their name in their id.
  const setting = id.startsWith('key_') && !MADE_KEY.test(id) ? id.slice('key_'.length) : undefined;
  return key?.name ?? setting ?? person?.name ?? person?.email ?? undefined;
}
