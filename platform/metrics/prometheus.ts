import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

import type { Metrics, ReadGauge } from './metrics.ts';

/** From a status read to a video. */
const BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600, 1_800];

/** Makes the metrics of a process, with its memory and the delay of its event loop among them. */
export function createMetrics(role: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ role });
  collectDefaultMetrics({ register: registry, prefix: 'kiln_' });
  const registers = [registry];
  // A graph that replaces another has the same metrics: they go on, and gauges are read from the newer one.
  const readers = new Map<string, ReadGauge>();
  const known = (name: string) => registry.getSingleMetric(name);
  return {
    counter(name, help, labelNames = []) {
      const counter =
        (known(name) as Counter | undefined) ??
        new Counter({ name, help, labelNames: [...labelNames], registers });
      return (labels = {}, by = 1) => counter.inc(labels, by);
    },
    histogram(name, help, labelNames = []) {
      const histogram =
        (known(name) as Histogram | undefined) ??
        new Histogram({
          name,
          help,
          labelNames: [...labelNames],
          registers,
          buckets: BUCKETS,
        });
      return (labels, seconds) => histogram.observe(labels, seconds);
    },
    gauge(name, help, labelNames, read) {
      const isKnown = readers.has(name);
      readers.set(name, read);
      if (isKnown) return;
      const gauge: Gauge = new Gauge({
        name,
        help,
        labelNames: [...labelNames],
        registers,
        async collect() {
          gauge.reset();
          const values = await Promise.try(() => readers.get(name)?.() ?? []).catch(() => []);
          // A gauge without labels is 0 after a reset, which nobody has read.
          if (values.length === 0 && labelNames.length === 0) gauge.remove();
          for (const { labels = {}, value } of values) gauge.set(labels, value);
        },
      });
    },
    text: () => registry.metrics(),
  };
}
