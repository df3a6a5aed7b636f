/** What a page knows of a cluster besides its tasks. */
import type { ClusterPart } from '../../wire';
import { ActivityStore } from './activity-store';
import { MetricStore } from './metric-store';
import { WorkerStore } from './worker-store';

export class ClusterStore {
  activities = new ActivityStore();
  workers = new WorkerStore();
  metrics = new MetricStore();

  append({ activities, workers, metrics }: ClusterPart): void {
    this.activities.append(activities);
    this.workers.append(workers);
    this.metrics.append(metrics);
  }

  clear(): void {
    this.activities = new ActivityStore();
    this.workers = new WorkerStore();
    this.metrics = new MetricStore();
  }
}
