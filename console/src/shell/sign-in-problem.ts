import { problemText } from '../parts/problem.tsx';

/** Why the sign-in of this page load has failed, for the frame to say. */
let problem: string | null = null;

/** Keeps it; null when nothing has failed. */
export function noteSignInProblem(error: Error | null): void {
  problem = error === null ? null : problemText(error);
}

/** The reason, else null. */
export function signInProblem(): string | null {
  return problem;
}
