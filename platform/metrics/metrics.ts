/**
 * Metrics of one process in the format of Prometheus. Names begin with `kiln_`; values of labels are bounded
 * by those who set them: what is not known is `other`.
 */
export interface Metrics {
  /** A number that grows. The name ends with `_total`. */
  counter(name: string, help: string, labels?: readonly string[]): (labels?: Labels, by?: number) => void;
  /** Durations in seconds; the name ends with `_seconds`. */
  histogram(
    name: string,
    help: string,
    labels?: readonly string[],
  ): (labels: Labels, seconds: number) => void;
  /** Values that are read when somebody asks for the metrics. One that can't be read is left out. */
  gauge(name: string, help: string, labels: readonly string[], read: ReadGauge): void;
  /** Everything, as Prometheus reads it. */
  text(): Promise<string>;
}

type Labels = Readonly<Record<string, string>>;

/** Reads the values of a gauge. */
export type ReadGauge = () => Promise<readonly GaugeValue[]> | readonly GaugeValue[];

interface GaugeValue {
  readonly labels?: Labels;
  readonly value: number;
}

const ignore = (): void => undefined;

/** Metrics that nobody can read: nothing is counted. */
export const noMetrics: Metrics = {
  counter: () => ignore,
  histogram: () => ignore,
  gauge: ignore,
  text: () => Promise.resolve(''),
};

/** Bounds the values of a label: the first `most` that come are kept, every later one is `other`. */
export function boundedLabel(most: number): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.size < most) known.add(value);
    return known.has(value) ? value : 'other';
  };
}
