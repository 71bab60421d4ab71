import { expect } from 'vitest';

import type { Progress } from '../kit/clients/followers.ts';
import { graphql, until } from '../kit/clients/requests.ts';

/** What the tests of subscriptions ask and expect again and again. */

/** A started run of a template: the ids of both subgraphs. */
export interface Started {
  readonly id: string;
  readonly taskId: string;
}

/** Runs the bundled poster template. */
export async function executePoster(url: string, prompt: string): Promise<Started> {
  const { data, errors } = await graphql(
    url,
    `
      mutation ($parameters: JSON!) {
        executeTemplate(code: "poster", parameters: $parameters) {
          id
          taskId
        }
      }
    `,
    { parameters: { prompt } },
  );
  expect(errors).toBeUndefined();
  return data.executeTemplate as Started;
}

/** The task's log as the database has it. */
export async function storedLog(url: string, taskId: string): Promise<Omit<Progress, 'task'>[]> {
  const { data } = await graphql(
    url,
    `
      query ($id: ID!) {
        task(id: $id) {
          events(first: 1000) {
            seq
            state
            stage
            progress
          }
        }
      }
    `,
    { id: taskId },
  );
  return data.task.events as Omit<Progress, 'task'>[];
}

/** The entries alone, without what is joined to them at delivery. */
export function entries(events: readonly Progress[]): Omit<Progress, 'task'>[] {
  return events.map(({ seq, state, stage, progress }) => ({ seq, state, stage, progress }));
}

/** Every event of the log once and in order, growing, to a good end that shows the joined template and outputs. */
export function expectEveryEvent(events: readonly Progress[], started: Started): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  const progress = events.map((event) => event.progress);
  expect(progress).toEqual(progress.toSorted((one, other) => one - other));
  // Between the beginning and the end there was something to see, while it ran.
  expect(countSteps(events)).toBeGreaterThanOrEqual(2);
  expect(events.some(({ task }) => task.state === 'RUNNING')).toBe(true);
  for (const { task } of events) {
    expect(task.id).toBe(started.taskId);
    expect(task.execution).toMatchObject({ id: started.id, template: { name: 'Poster' } });
  }
  expect(events.at(-1)).toMatchObject({
    state: 'SUCCEEDED',
    progress: 100,
    task: { state: 'SUCCEEDED', outputs: [{ url: expect.stringContaining('/files/') }] },
  });
}

/** How many different numbers between 0 and 100 the progress has shown. */
function countSteps(events: readonly Progress[]): number {
  return new Set(events.map(({ progress }) => progress).filter((value) => value > 0 && value < 100)).size;
}

/** Waits until everybody has seen the progress grow. */
export async function underWay(all: readonly { readonly events: readonly Progress[] }[]): Promise<void> {
  await until(
    async () => Math.min(...all.map(({ events }) => countSteps(events))),
    (steps) => steps >= 2,
  );
}
