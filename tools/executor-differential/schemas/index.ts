import { clashes, interfaceObjects, nodes, requiresByType, unions } from './abstract.ts';
import { override, provides, requires, shareable } from './fields.ts';
import { chain, circles, compoundKeys, severalKeys } from './keys.ts';
import { kiln } from './kiln.ts';
import type { FederatedSource } from './source.ts';
import { inaccessible, scalars, wallets } from './values.ts';

/** Every federated schema of the differential test; together they use every directive that the gateway knows. */
export const federatedSources: readonly FederatedSource[] = [
  chain,
  severalKeys,
  compoundKeys,
  circles,
  requires,
  provides,
  override,
  shareable,
  interfaceObjects,
  unions,
  nodes,
  clashes,
  requiresByType,
  inaccessible,
  scalars,
  wallets,
  kiln,
];
