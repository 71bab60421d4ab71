import type { Param } from '../../../rest-compat/route/param.ts';
import type { Section } from '../../../rest-compat/route/route.ts';
import { toKey, type Documented, type Field } from '../documents/operation.ts';
import { findCarrier, fitting, unfitting, type Carrier } from '../documents/values.ts';

/** Numbers that are moved into these bounds instead of being refused; no others are. */
const moved: Readonly<Record<string, readonly [number, number]>> = {
  max_wait_time: [1, 3600],
  poll_interval: [1, 3600],
};

/**
 * Where the tables read an input otherwise than the documents say, in words: what is taken, what is refused and how,
 * what is moved. (What is said of an input and how it is read are two members of its table entry.)
 */
export function readingFaults(
  sections: readonly Section[],
  operations: readonly Documented[],
): readonly string[] {
  const routes = new Map(
    sections.flatMap((section) => section.routes.map((route) => [toKey(route), route] as const)),
  );
  return operations.flatMap((operation) =>
    [...operation.params, ...(operation.body?.fields ?? [])].flatMap((field) => {
      const param = routes.get(toKey(operation))?.params[field.name];
      const faults =
        param === undefined ? ['is not there'] : findFaults(param, field, findCarrier(operation, field));
      return faults.map((fault) => `${toKey(operation)}: ${field.name} ${fault}`);
    }),
  );
}

function findFaults(param: Param<unknown>, field: Field, carrier: Carrier): readonly string[] {
  const { clamp, fallback } = param;
  const limits = moved[field.name];
  const isMoved = clamp?.[0] === limits?.[0] && clamp?.[1] === limits?.[1];
  const source = field.type === 'file' || field.type === 'link-or-file' ? 'file' : carrier;
  return [
    ...(param.in === source ? [] : [`is looked for in ${param.in} instead of ${source}`]),
    ...(isMoved ? [] : [`is moved into ${JSON.stringify(clamp)} instead of ${JSON.stringify(limits)}`]),
    ...(fallback === undefined || 'value' in param.read(fallback) ? [] : ['does not take its own default']),
    ...refusals(param, field, carrier),
  ];
}

function refusals(param: Param<unknown>, field: Field, carrier: Carrier): readonly string[] {
  // What a file part is, only a request can show.
  if (field.type === 'file') return [];
  const taken = fitting(field, carrier)
    .map((value) => [value, param.read(value)] as const)
    .filter(([, reading]) => 'problem' in reading)
    .map(([value]) => `refuses ${JSON.stringify(value)}`);
  const refused = unfitting(field, carrier)
    .filter(({ kind }) => kind !== 'missing')
    .map(({ value, problem }) => {
      const reading = param.read(value);
      return { value, problem, found: 'problem' in reading ? reading.problem.type : 'nothing' };
    })
    .filter(({ problem, found }) => problem !== found)
    .map(({ value, problem, found }) => `finds ${found} wrong with ${JSON.stringify(value)}, not ${problem}`);
  return [...taken, ...refused];
}
