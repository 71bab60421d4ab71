import { expect } from 'vitest';

/** The workflow service's answers as tests expect them. */

const facts = {
  timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
  traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
};

/** A success with exactly these data; without any when they are left out. */
export function told(data?: unknown): object {
  const body = { code: 200, message: expect.any(String), ...(data === undefined ? {} : { data }), ...facts };
  return expect.objectContaining({ status: 200, body });
}

/** A refusal with this status; of a 400 the fields that are named, in their order. */
export function refusal(code: number, fields?: readonly (string | null)[]): object {
  const issues = fields?.map((field) => expect.objectContaining({ field, message: expect.any(String) }));
  const data = issues === undefined ? {} : { data: { issues } };
  const body = { code, message: expect.any(String), ...data, ...facts };
  return expect.objectContaining({ status: code, body });
}

/** ISO 8601. */
export const moment = facts.timestamp;
