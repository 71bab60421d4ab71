import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/**
 * Metrics of one process in the format of Prometheus, on prom-client. Names begin with `kiln_`; values of labels are bounded
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

type ReadGauge = () => Promise<readonly GaugeValue[]> | readonly GaugeValue[];

interface GaugeValue {
  readonly labels?: Labels;
  readonly value: number;
}

/** From a status read to a video. */
const BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600, 1_800];

/** Makes the metrics of a process, with its memory and the delay of its event loop among them. */
export function createMetrics(role: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ role });
  collectDefaultMetrics({ register: registry, prefix: 'kiln_' });
  const registers = [registry];
  return {
    counter(name, help, labelNames = []) {
      const counter = new Counter({ name, help, labelNames: [...labelNames], registers });
      return (labels = {}, by = 1) => counter.inc(labels, by);
    },
    histogram(name, help, labelNames = []) {
      const histogram = new Histogram({
        name,
        help,
        labelNames: [...labelNames],
        registers,
        buckets: BUCKETS,
      });
      return (labels, seconds) => histogram.observe(labels, seconds);
    },
    gauge(name, help, labelNames, read) {
      const gauge: Gauge = new Gauge({
        name,
        help,
        labelNames: [...labelNames],
        registers,
        async collect() {
          gauge.reset();
          const values = await Promise.resolve(read()).catch(() => []);
          // A gauge without labels is 0 after a reset, which nobody has read.
          if (values.length === 0 && labelNames.length === 0) gauge.remove();
          for (const { labels = {}, value } of values) gauge.set(labels, value);
        },
      });
    },
    text: () => registry.metrics(),
  };
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
