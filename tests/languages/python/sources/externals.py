"""External bases and values: nothing of the project is guessed."""

import threading
import unittest

import django.db.models as models


class Worker(threading.Thread):
    def go(self):
        self.start()
        # x> threading.Thread.start
        # -/> Unrelated.start
        self.step()
        # -> Worker.step

    def step(self):
        pass


class Unrelated:
    def start(self):
        pass

    def save(self):
        pass


class Record(models.Model):
    def store(self):
        self.save()
        # x> django.db.models.Model.save
        # -/> Unrelated.save


class Check(unittest.TestCase):
    def test_it(self):
        self.assertEqual(1, 1)
        # x> unittest.TestCase.assertEqual


def unknown(x):
    x.save()
    # ?> Unrelated.save
    # -/> Unrelated.save


def found(client: models.Client):
    client.save()
    # x> django.db.models.Client.save
    # -/> Unrelated.save
