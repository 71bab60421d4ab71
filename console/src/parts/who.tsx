import { useQuery } from '@apollo/client/react';

import { useCaller } from '../api/caller.ts';
import { NameOfDocument, NamesDocument } from '../api/documents/api.ts';
import { t } from '../text/text.ts';

/** The name of a person or a key in the place of their id, for who may see names; the id is told on hover. */
export function Who({ id }: { readonly id: string }) {
  const seesNames = useCaller()?.mayIssueKeys === true;
  const isNamed = /^(usr|key)_/.test(id);
  const { data } = useQuery(NamesDocument, { skip: !seesNames || !isNamed });
  const found = data === undefined ? undefined : nameIn(data, id);
  // The first page of people has most of them; others are asked for one by one.
  const { data: other } = useQuery(NameOfDocument, {
    variables: { id },
    skip: data === undefined || found !== undefined || !id.startsWith('usr_'),
  });
  const node = other?.users.edges.find((edge) => edge.node.id === id)?.node;
  const name = found ?? node?.name ?? node?.email;
  return <span title={id}>{id === 'anon' ? t('who.visitor') : (name ?? id)}</span>;
}

interface Names {
  readonly serviceKeys: readonly { readonly id: string; readonly name: string }[];
  readonly users: {
    readonly edges: readonly {
      readonly node: { readonly id: string; readonly name: string | null; readonly email: string | null };
    }[];
  };
}

/** The name that an id has in these lists. */
export function nameIn({ serviceKeys, users }: Names, id: string): string | undefined {
  const key = serviceKeys.find((one) => one.id === id);
  const person = users.edges.find(({ node }) => node.id === id)?.node;
  return key?.name ?? person?.name ?? person?.email ?? undefined;
}
