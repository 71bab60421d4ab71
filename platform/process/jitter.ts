/** A duration that differs each time, from half of it to half as much again: processes do not act in step. */
export const withJitter = (milliseconds: number): number => milliseconds * (0.5 + Math.random());
