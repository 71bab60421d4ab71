import { AsyncLocalStorage } from 'node:async_hooks';

/** The progress of what a job renders, handed from the studio to the job that it renders for. */
const listeners = new AsyncLocalStorage<(percent: number) => void>();

/** Does the work of a job; what is rendered in it reports to the listener, 0 to 100. */
export function listenToRender<Result>(listener: (percent: number) => void, work: () => Result): Result {
  return listeners.run(listener, work);
}

/** Reports to the job that is being worked for, if any. To be asked for when the rendering begins. */
export function renderListener(): (percent: number) => void {
  return listeners.getStore() ?? (() => undefined);
}
