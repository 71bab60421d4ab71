import { startKiln } from './kit/kiln.ts';
for (let i = 0; i < 6; i += 1) {
  const c0 = process.cpuUsage(); const t0 = performance.now();
  const kiln = await startKiln();
  const c1 = process.cpuUsage(c0);
  const c2s = process.cpuUsage(); await kiln.close(); const c2 = process.cpuUsage(c2s);
  console.log(i, 'start cpu ms', Math.round((c1.user + c1.system) / 1000), 'wall', Math.round(performance.now() - t0), 'close cpu', Math.round((c2.user + c2.system) / 1000));
}
process.exit(0);
