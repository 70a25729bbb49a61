#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The parts of understudy_torch that need no PyTorch. usage: test_torch_keys.py BUILD_DIR"""
import itertools
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(sys.argv[1]).resolve() / "lib/understudy_python"))
import understudy_torch_keys as keys


def addresses(size, stride):
    return [sum(i * s for i, s in zip(at, stride)) for at in itertools.product(*(range(n) for n in size))]


SHAPES = [
    ((3, 4), (4, 1)), ((3, 4), (1, 3)), ((3, 4), (8, 1)), ((3, 4), (0, 1)), ((3, 4), (2, 1)), ((2, 3, 4), (12, 1, 3)),
    ((1, 4), (99, 1)), ((5,), (2,)), ((1,), (7,)), ((), ()), ((2, 2), (1, 1)), ((4, 3), (3, 2)),
]  # fmt: skip


class Layouts(unittest.TestCase):
    def test_dense_is_every_address_once_without_gaps(self):
        for size, stride in SHAPES:
            at = addresses(size, stride)
            self.assertEqual(keys.is_dense(size, stride), sorted(at) == list(range(len(at))), (size, stride))

    def test_what_overlaps_itself_is_found(self):
        for size, stride in SHAPES:
            at = addresses(size, stride)
            if len(set(at)) != len(at):
                self.assertTrue(keys.overlaps_itself(size, stride), (size, stride))
            if keys.is_dense(size, stride):
                self.assertFalse(keys.overlaps_itself(size, stride), (size, stride))

    def test_sizes_share_a_class_and_orders_do_not(self):
        same = keys.layout_class((3, 4), (4, 1))
        self.assertEqual(same, keys.layout_class((30, 7), (7, 1)))
        for size, stride in (((3, 4), (1, 3)), ((3, 4), (8, 1)), ((3, 4), (0, 1)), ((1, 4), (4, 1)), ((3, 4, 5), (20, 5, 1))):
            self.assertNotEqual(same, keys.layout_class(size, stride), (size, stride))


class Ways(unittest.TestCase):
    def test_auto_follows_the_tool(self):
        self.assertEqual([keys.way_from(None, tool) for tool in (False, True)], ["cpu", "inductor"])
        self.assertEqual([keys.way_from("auto", tool) for tool in (False, True)], ["cpu", "inductor"])

    def test_a_name_decides(self):
        self.assertEqual(keys.way_from("inductor", False), "inductor")
        self.assertEqual(keys.way_from(" CPU ", True), "cpu")
        with self.assertRaisesRegex(ValueError, "UNDERSTUDY_TORCH_VIA is 'gpu'"):
            keys.way_from("gpu", False)


class OnDisk(unittest.TestCase):
    def test_what_is_saved_is_loaded_by_its_key_and_version_only(self):
        with tempfile.TemporaryDirectory() as directory:
            store, key, records = keys.Store(directory, "1"), ("mm", (1, 2)), [{"code": "x", "condition": None}]
            self.assertEqual(store.load(key), [])
            self.assertTrue(store.save(key, records))
            self.assertEqual(store.load(key), records)
            self.assertEqual(store.load(("mm", (1, 3))), [])
            self.assertEqual(keys.Store(directory, "2").load(key), [])

    def test_what_cannot_be_read_is_nothing(self):
        with tempfile.TemporaryDirectory() as directory:
            store, key = keys.Store(directory, "1"), ("mm",)
            for text in ("", "[1", "[]", json.dumps({"key": "another", "records": [{}]}), json.dumps({"key": repr(key), "records": 3})):
                pathlib.Path(store.path(key)).write_text(text)
                self.assertEqual(store.load(key), [], text)

    def test_a_directory_that_is_none_is_no_error(self):
        with tempfile.NamedTemporaryFile() as file:
            self.assertFalse(keys.Store(file.name + "/x", "1").save("k", []))


class Counting(unittest.TestCase):
    def test_the_report_names_what_went_to_the_cpu_and_why(self):
        tally = keys.Tally()
        for _ in range(3):
            tally.add("inductor", "mm")
        tally.add("cpu", "sort", "no kernel")
        tally.add("cpu", "mm", "a tensor without elements")
        self.assertEqual(tally.counts(), {"mm": 4, "sort": 1})
        self.assertEqual(tally.ways(), {"inductor": 3, "cpu": 2})
        report = tally.report()
        self.assertIn("3 of 5 calls of operators through Inductor, 2 by the CPU's operators", report)
        self.assertRegex(report, r"cpu +1 sort: no kernel")
        self.assertRegex(report, r"cpu +1 mm: a tensor without elements")


unittest.main(argv=sys.argv[:1])
