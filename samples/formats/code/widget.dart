import 'dart:async';
import 'package:flutter/material.dart';
import 'x.dart';

/// A widget.
@immutable
class MyWidget extends StatelessWidget with Foo {
  const MyWidget({super.key, required this.title});

  final String title;

  MyWidget.named(this.title) {
    print(1);
  }

  factory MyWidget.make() {
    return MyWidget.named('a');
  }

  /// Builds.
  @override
  Widget build(BuildContext context) {
    return Text(title);
  }

  int get size => 3;

  static Future<void> load() async {
    await x();
  }
}

mixin Foo on Object {
  void foo() {
    print(2);
  }
}

extension StringX on String {
  String shout() => toUpperCase();
}

enum Color { red, green }

typedef Callback = void Function(int);

void main() {
  runApp(MyWidget());
}

abstract class Repo {
  Future<int> get(String id);
}
