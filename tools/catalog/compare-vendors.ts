import { toError } from '../../platform/errors.ts';
import type { HttpClient } from '../../platform/http/http-client.ts';
import type { Binding } from '../../subgraphs/media/generators/bindings/binding.ts';
import { identifyUpstream } from '../../subgraphs/media/generators/bindings/identity.ts';
import { compareWithVendor } from './compare-list.ts';
import type { Finding } from './compare-models.ts';
import { readVendorList } from './read-list.ts';

/** A finding with whose model it is about. */
type VendorFinding = Finding & { readonly provider: string };

/**
 * The models of bindings beside the lists of their vendors, each account once; `notes` say which lists were read, and which could not
 * be. The sandbox is no vendor.
 */
export async function compareWithVendors({
  bindings,
  http,
  today,
}: {
  readonly bindings: readonly Binding[];
  readonly http: Pick<HttpClient, 'request'>;
  readonly today: string;
}): Promise<{
  readonly findings: readonly VendorFinding[];
  readonly notes: readonly string[];
  /** How many lists could not be read. */
  readonly unread: number;
}> {
  const findings: VendorFinding[] = [];
  const notes: string[] = [];
  let unread = 0;
  const real = bindings.filter(({ sandbox, isAggregated }) => !sandbox && isAggregated !== true);
  for (const [upstream, own] of Map.groupBy(real, identifyUpstream)) {
    const [first] = own;
    if (first === undefined) continue;
    const provider = first.provider.name;
    const models = [
      ...new Map(own.flatMap(({ models: all = [] }) => all).map((model) => [model.id, model])).values(),
    ];
    try {
      const ids = models.map(({ id }) => id);
      const list = await readVendorList(provider, { http, connection: first.connection, ids });
      if (list === null) continue;
      notes.push(`${provider} (${first.settings}) lists ${list.models.length} models`);
      findings.push(...compareWithVendor(models, { list, today }).map((one) => ({ ...one, provider })));
    } catch (thrown) {
      unread += 1;
      notes.push(
        `${provider} (${first.settings}, ${upstream}): its list can't be read: ${toError(thrown).message}`,
      );
    }
  }
  return { findings, notes, unread };
}
